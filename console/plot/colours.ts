import { useEffect, useState } from 'preact/hooks';

export interface PlotColours {
  readonly series: readonly string[];
  readonly surface: string;
  readonly text: string;
  readonly grid: string;
}

const seriesCount = 8;

/** The values of the style's variables in the current theme: a canvas knows no variables. */
export function coloursOf(element: HTMLElement): PlotColours {
  const probe = document.createElement('span');
  probe.hidden = true;
  element.append(probe);
  const colour = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    series: Array.from({ length: seriesCount }, (_, i) => colour(`--plot-${i + 1}`)),
    surface: colour('--surface'),
    text: colour('--text-muted'),
    grid: colour('--border'),
  };
  probe.remove();
  return colours;
}

/** Changes whenever the theme, or the resolution of the screen, may have changed. */
export function useScreenChanges(): number {
  const [changes, setChanges] = useState(0);
  useEffect(() => {
    const changed = (): void => setChanges((count) => count + 1);
    const theme = new MutationObserver(changed);
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    const queries = [matchMedia('(prefers-color-scheme: dark)'), matchMedia(`(resolution: ${devicePixelRatio}dppx)`)];
    for (const query of queries) query.addEventListener('change', changed);
    return () => {
      theme.disconnect();
      for (const query of queries) query.removeEventListener('change', changed);
    };
  }, [changes]);
  return changes;
}
