import { AppError } from '../../core/errors/app-error.ts';

/** The parameters of a request target, each at most once, names case-sensitive, `+` read as a space. */
export function parseQueryString(target: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  const start = target.indexOf('?');
  if (start < 0) return parameters;
  for (const pair of target.slice(start + 1).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
    if (parameters.has(name)) {
      throw new AppError('invalid_parameter', `parameter ${JSON.stringify(name)} is given more than once`, {
        hint: 'give each parameter once',
      });
    }
    parameters.set(name, value);
  }
  return parameters;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new AppError('invalid_parameter', `${JSON.stringify(text.slice(0, 200))} is not URL-encoded UTF-8`, {
      hint: 'percent-encode the UTF-8 bytes of each parameter, % itself as %25',
    });
  }
}
