export function FramesView() {
  return <h1>Frames</h1>;
}
