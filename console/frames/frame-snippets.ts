export interface SnippetContext {
  readonly handle: string;
  /** Origin of the page. */
  readonly origin: string;
  readonly hasToken: boolean;
}

/** Code of programs that read a frame. */
export function frameSnippets({
  handle,
  origin,
  hasToken,
}: SnippetContext): { readonly title: string; readonly text: string }[] {
  const query = new URLSearchParams({ handle, fmt: 'parquet' });
  const url = `${origin}/exp?${query}`;
  const page = `${origin}/exec?${new URLSearchParams({ handle, fmt: 'json', limit: '1,100' })}`;
  const header = hasToken ? ` -H "Authorization: Bearer $FRAMEHOLD_TOKEN"` : '';
  const file = `${handle.replace(/^.*\//, '')}.parquet`;
  const python = hasToken
    ? [
        'import io, os, urllib.request',
        'import polars as pl',
        '',
        `request = urllib.request.Request(${JSON.stringify(url)},`,
        `    headers={"Authorization": "Bearer " + os.environ["FRAMEHOLD_TOKEN"]})`,
        'frame = pl.read_parquet(io.BytesIO(urllib.request.urlopen(request).read()))',
      ]
    : [
        'import io, urllib.request',
        'import polars as pl',
        '',
        `frame = pl.read_parquet(io.BytesIO(urllib.request.urlopen(${JSON.stringify(url)}).read()))`,
      ];
  return [
    { title: 'curl: the first 100 rows', text: `curl${header} '${page}'` },
    { title: 'curl: all of it as Parquet', text: `curl${header} -o ${file} '${url}'` },
    { title: 'Python', text: python.join('\n') },
  ];
}
