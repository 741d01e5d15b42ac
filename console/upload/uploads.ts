import { effect, signal } from '@preact/signals';
import { identity } from '../api/session.ts';
import { activity } from '../navigation/activity.ts';
import { hrefOf } from '../navigation/route.ts';
import { notify } from '../widgets/notices.tsx';
import { Upload } from './upload.ts';

/** A browser has six connections to a server, and other views need some. */
const mostAtOnce = 2;

/** The newest last. */
export const uploads = signal<readonly Upload[]>([]);

let last = 0;

export function addFiles(files: Iterable<File>): void {
  const prefix = identity.peek()?.prefix ?? '';
  const added = [...files].map((file) => new Upload(++last, file, prefix));
  uploads.value = [...uploads.peek(), ...added];
}

export function removeUpload(upload: Upload): void {
  upload.dispose();
  uploads.value = uploads.peek().filter((each) => each !== upload);
}

/** Sends it as soon as there is room. */
export function startUpload(upload: Upload): void {
  upload.phase.value = { kind: 'waiting' };
  sendNext();
}

function sendNext(): void {
  const all = uploads.peek();
  const sending = all.filter(({ phase }) => phase.peek().kind === 'sending' || phase.peek().kind === 'reading').length;
  for (const upload of all.filter(({ phase }) => phase.peek().kind === 'waiting').slice(0, mostAtOnce - sending)) {
    void upload.send().then(() => {
      tellOf(upload);
      sendNext();
    });
  }
}

/** For users who look at another view by now. */
function tellOf({ phase, file }: Upload): void {
  if (location.hash.startsWith(hrefOf('upload'))) return;
  const ended = phase.peek();
  if (ended.kind === 'done') notify(`${file.name} is kept as ${ended.answer.handle}`);
  if (ended.kind === 'failed') notify(`${file.name} could not be kept`, { isError: true });
}

effect(() => {
  const underWay = uploads.value.filter(({ phase }) => ['waiting', 'sending', 'reading'].includes(phase.value.kind));
  if (underWay.length === 0) {
    activity.value = undefined;
    return;
  }
  const total = underWay.reduce((sum, { file }) => sum + file.size, 0);
  const sent = underWay.reduce((sum, upload) => sum + sentOf(upload), 0);
  const isReading = underWay.every(({ phase }) => phase.value.kind === 'reading');
  const title = underWay.length === 1 ? (underWay[0]?.file.name ?? '') : `${underWay.length} files`;
  activity.value = {
    title: isReading ? `Reading ${title}` : `Sending ${title}`,
    share: isReading || total === 0 ? undefined : sent / total,
    href: hrefOf('upload'),
  };
});

function sentOf({ phase, file }: Upload): number {
  const now = phase.value;
  return now.kind === 'sending' ? now.sent : now.kind === 'reading' ? file.size : 0;
}

addEventListener('beforeunload', (event) => {
  if (uploads.peek().some((upload) => upload.isUnderWay)) event.preventDefault();
});
