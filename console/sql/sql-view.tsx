export function SqlView() {
  return <h1>Sql</h1>;
}
