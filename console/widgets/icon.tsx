/** Strokes on a square of 24 units. */
const paths = {
  activity: 'M3 12h4l3 8 4-16 3 8h4',
  brand: 'M4 6h16M4 12h16M4 18h16M10 6v12',
  check: 'M5 12l5 5L20 7',
  'chevron-down': 'M6 9l6 6 6-6',
  'chevron-left': 'M15 6l-6 6 6 6',
  'chevron-right': 'M9 6l6 6-6 6',
  close: 'M6 6l12 12M18 6L6 18',
  columns: 'M4 5h16v14H4zM10 5v14M15 5v14',
  contrast: 'M12 3a9 9 0 100 18 9 9 0 000-18zM12 3v18M12 8l6-2M12 13l8-2M12 18l6-2',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  history: 'M4 12a8 8 0 108-8 8 8 0 00-6 3M4 4v4h4M12 8v4l3 2',
  link: 'M10 14a4 4 0 005.7 0l3-3a4 4 0 00-5.7-5.7l-1 1M14 10a4 4 0 00-5.7 0l-3 3a4 4 0 005.7 5.7l1-1',
  'log-in': 'M14 5h5v14h-5M10 8l4 4-4 4M14 12H5',
  'log-out': 'M10 5H5v14h5M14 8l4 4-4 4M18 12H9',
  moon: 'M20 14.5A8 8 0 119.5 4 6.5 6.5 0 0020 14.5z',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 5l12 7-12 7z',
  plus: 'M12 5v14M5 12h14',
  refresh: 'M20 12a8 8 0 11-2.3-5.7M20 4v4h-4',
  save: 'M5 4h11l3 3v13H5zM8 4v5h7V4M8 20v-6h8v6',
  search: 'M11 4a7 7 0 100 14 7 7 0 000-14zM16 16l4 4',
  share:
    'M7 12l10-5M7 12l10 5M5 14a2 2 0 100-4 2 2 0 000 4zM19 8a2 2 0 100-4 2 2 0 000 4zM19 20a2 2 0 100-4 2 2 0 000 4z',
  star: 'M12 4l2.5 5.1 5.5.8-4 3.9.9 5.6-4.9-2.7-4.9 2.7.9-5.6-4-3.9 5.5-.8z',
  stop: 'M7 7h10v10H7z',
  sun: 'M12 8a4 4 0 100 8 4 4 0 000-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5',
  table: 'M4 5h16v14H4zM4 10h16M4 15h16M10 5v14',
  terminal: 'M4 6l6 6-6 6M12 18h8',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  upload: 'M12 16V5M7 9l5-5 5 5M5 20h14',
  warning: 'M12 4l9 16H3zM12 10v4M12 17h.01',
  'zoom-in': 'M11 4a7 7 0 100 14 7 7 0 000-14zM16 16l4 4M11 8v6M8 11h6',
  'zoom-out': 'M11 4a7 7 0 100 14 7 7 0 000-14zM16 16l4 4M8 11h6',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
