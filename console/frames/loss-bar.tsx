import type { FrameModel } from './frame-model.ts';
import type { FrameLoss } from './rows/frame-source.ts';

const texts: Readonly<Record<FrameLoss, string>> = {
  replaced: 'This frame was replaced. What is shown is of the version before, as far as it was loaded.',
  dropped: 'This frame was dropped, or has expired. What is shown is what was loaded of it.',
  damaged: 'This frame is damaged on the disk of the server. What is shown is what was loaded of it.',
};

/** Above the parts of a frame: why they are not those of the frame as it is now. */
export function LossBar({ model }: { readonly model: FrameModel }) {
  const loss = model.source.value?.lost.value;
  if (loss !== undefined) {
    return (
      <div class="bar warning" role="alert">
        <span>{texts[loss]}</span>
        {loss !== 'dropped' && (
          <button type="button" class="button" onClick={() => void model.showNew()}>
            {loss === 'replaced' ? 'Show the new version' : 'Show what is wrong'}
          </button>
        )}
      </div>
    );
  }
  if (!model.isAway.value) return null;
  return (
    <div class="bar warning" role="status">
      The server cannot be reached. It is asked again and again; what is shown is what was loaded.
    </div>
  );
}
