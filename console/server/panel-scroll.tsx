import type { ComponentChildren } from 'preact';

/** Scrolls sideways where a table is wider than the page, also by keyboard. */
export function PanelScroll({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it by its focus
    <section class="panel-scroll" aria-label={title} tabIndex={0}>
      {children}
    </section>
  );
}
