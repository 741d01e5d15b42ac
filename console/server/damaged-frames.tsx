import { hrefOf } from '../navigation/route.ts';
import { Icon } from '../widgets/icon.tsx';
import type { DamagedFrame } from './server-state.ts';

export function DamagedFrames({ frames }: { readonly frames: readonly DamagedFrame[] }) {
  return (
    <section class="panel damaged-frames" aria-labelledby="damaged-title">
      <h2 id="damaged-title">
        <Icon name="warning" />
        {frames.length === 1 ? 'A frame is damaged' : `${frames.length} frames are damaged`}
      </h2>
      <ul>
        {frames.map(({ handle, damaged }) => (
          <li key={handle}>
            <a href={hrefOf('frames', [handle])}>{handle}</a>: {damaged}
          </li>
        ))}
      </ul>
      <p class="muted">Restore its file from a backup, or drop the frame.</p>
    </section>
  );
}
