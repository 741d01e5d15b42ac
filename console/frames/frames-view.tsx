import { place } from '../app/route.ts';
import { FrameListView } from './frame-list-view.tsx';
import { FrameView } from './frame-view.tsx';

export function FramesView() {
  const [handle] = place.value.segments;
  return handle === undefined || handle === '' ? <FrameListView /> : <FrameView key={handle} handle={handle} />;
}
