export function ServerView() {
  return <h1>Server</h1>;
}
