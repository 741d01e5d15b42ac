/** The base URL of another server, without a slash at its end. Keeps credentials in it. */
export function parseHttpUrl(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.search !== '' || url.hash !== '') return undefined;
  return url.href.replace(/\/+$/, '');
}

/** The same text with user and password hidden; also works on malformed URLs. */
export function maskCredentials(text: string): string {
  return text.replace(/^([^/@]*:\/\/)?.*@/s, (_, scheme: string | undefined) => `${scheme ?? ''}***@`);
}

/** `name=value` by commas, with the values hidden. */
export function maskValues(text: string): string {
  return text.replaceAll(/=[^,]*/g, '=***');
}
