import type UPlot from 'uplot';

let loaded: Promise<typeof UPlot> | undefined;

/** Loaded with the first plot. */
export function loadUPlot(): Promise<typeof UPlot> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<typeof UPlot> {
  guardLanguage();
  return (await import('uplot')).default;
}

/** Chromium under LANG=C reports the language en-US@posix, at which Intl throws; uPlot reads it as it loads. */
function guardLanguage(): void {
  try {
    new Intl.NumberFormat(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
  }
}
