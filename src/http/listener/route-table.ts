import type { Route } from '../exchange/route.ts';

interface Found {
  readonly route: Route | undefined;
  /** The value of each `{name}` of its path, decoded. */
  readonly segments: readonly string[];
}

const none: readonly string[] = [];

/** Finds the route of a path. */
export class RouteTable {
  readonly #exact: ReadonlyMap<string, Route>;
  readonly #templates: readonly { readonly route: Route; readonly pattern: RegExp }[];
  readonly paths: readonly string[];

  constructor(routes: readonly Route[]) {
    const hasPlaces = ({ path }: Route): boolean => path.includes('{');
    this.paths = routes.filter(({ isOfConsole }) => isOfConsole !== true).map(({ path }) => path);
    this.#exact = new Map(routes.filter((route) => !hasPlaces(route)).map((route) => [route.path, route]));
    this.#templates = routes.filter(hasPlaces).map((route) => ({
      route,
      pattern: new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '([^/]+)')}$`),
    }));
  }

  find(path: string): Found {
    const route = this.#exact.get(path);
    if (route !== undefined) return { route, segments: none };
    for (const template of this.#templates) {
      const [, ...segments] = template.pattern.exec(path) ?? [];
      if (segments.length > 0) return decoded(template.route, segments);
    }
    return { route: undefined, segments: none };
  }
}

function decoded(route: Route, segments: readonly string[]): Found {
  try {
    return { route, segments: segments.map(decodeURIComponent) };
  } catch {
    return { route: undefined, segments: none };
  }
}
