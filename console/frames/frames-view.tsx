import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../api/api-error.ts';
import { place } from '../navigation/route.ts';
import { FrameListView } from './list/frame-list-view.tsx';

export function FramesView() {
  const [handle] = place.value.segments;
  return handle === undefined || handle === '' ? <FrameListView /> : <LoadedFrameView handle={handle} />;
}

type FrameViewComponent = ComponentType<{ readonly handle: string }>;

/** The grid is not loaded with the list. */
function LoadedFrameView({ handle }: { readonly handle: string }) {
  const [loaded, setLoaded] = useState<{ readonly FrameView: FrameViewComponent }>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    import('./frame-view.tsx').then(setLoaded, setError);
  }, []);
  if (error !== undefined) {
    return (
      <div class="empty" role="alert">
        <p>{messageOf(error)}</p>
      </div>
    );
  }
  return loaded === undefined ? (
    <div class="empty" aria-busy="true" />
  ) : (
    <loaded.FrameView key={handle} handle={handle} />
  );
}
