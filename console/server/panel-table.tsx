import type { ComponentChildren } from 'preact';

export interface PanelTableProps {
  readonly title: string;
  /** '' over a column that needs no name. */
  readonly columns: readonly string[];
  /** The rows. */
  readonly children: ComponentChildren;
}

/** Scrolls sideways where it is wider than the page, also by keyboard. */
export function PanelTable({ title, columns, children }: PanelTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it by its focus
    <section class="panel-scroll" aria-label={title} tabIndex={0}>
      <table class="panel-table">
        <thead>
          <tr>
            {columns.map((name) =>
              name === '' ? (
                <td key={name} />
              ) : (
                <th key={name} scope="col">
                  {name}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
