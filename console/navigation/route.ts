import { computed, signal } from '@preact/signals';

/** The place of the page, from the fragment of its address: `#/frames/trades?row=17`. */
export interface Place {
  readonly view: string;
  /** The segments behind the view, decoded. */
  readonly segments: readonly string[];
  readonly parameters: URLSearchParams;
}

const fragment = signal(location.hash);
addEventListener('hashchange', () => {
  fragment.value = location.hash;
});

export const place = computed<Place>(() => parsePlace(fragment.value));

function parsePlace(hash: string): Place {
  const text = hash.replace(/^#\/?/, '');
  const queryAt = text.indexOf('?');
  const path = queryAt < 0 ? text : text.slice(0, queryAt);
  const [view = '', ...segments] = path.split('/').map(decode);
  return {
    view: view === '' ? 'frames' : view,
    segments,
    parameters: new URLSearchParams(queryAt < 0 ? '' : text.slice(queryAt + 1)),
  };
}

/** The address of a place, for links. */
export function hrefOf(
  view: string,
  segments: readonly string[] = [],
  parameters: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined && value !== '') query.set(name, String(value));
  const text = query.toString();
  return `#/${[view, ...segments].map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

/** `replace`: without a new step of the history. */
export function goTo(href: string, { replace = false } = {}): void {
  if (href === location.hash) return;
  if (replace) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  fragment.value = location.hash;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
