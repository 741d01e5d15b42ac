import { maskCredentials } from './http-url.ts';

/** PySpark's own form: `sc://host:15002/;token=…;use_ssl=true`. What the parameters mean is for the engine to say. */
export function parseSparkUrl(text: string): string | undefined {
  const match = /^sc:\/\/([^\s/;?#@:[\]]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?(?:\/(?:;[^\s#]*)?)?$/i.exec(text);
  if (match === null) return undefined;
  const port = match[2] === undefined ? 1 : Number(match[2]);
  const parameters = text.split(';').slice(1).filter(Boolean);
  const isRight = port >= 1 && port <= 65_535 && parameters.every((each) => /^[^=]+=./.test(each));
  return isRight ? text : undefined;
}

/** The others may be headers with a key in them. */
const harmless = new Set(['use_ssl', 'user_id', 'user_agent', 'session_id']);

/** The same text with its secrets hidden; also works on what is no URL at all. */
export function maskSparkUrl(text: string): string {
  return maskCredentials(text).replace(/([^;/?&=]+)=[^;]*/g, (pair, name: string) =>
    harmless.has(name.trim().toLowerCase()) ? pair : `${name}=***`,
  );
}
