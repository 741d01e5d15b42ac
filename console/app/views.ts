import type { ComponentType } from 'preact';
import type { IconName } from '../widgets/icon.tsx';

export interface View {
  readonly name: string;
  readonly title: string;
  readonly icon: IconName;
  /** Loaded when it is first shown. */
  load(): Promise<ComponentType>;
}

export const views: readonly View[] = [
  {
    name: 'frames',
    title: 'Frames',
    icon: 'table',
    load: async () => (await import('../frames/frames-view.tsx')).FramesView,
  },
  { name: 'sql', title: 'SQL', icon: 'terminal', load: async () => (await import('../sql/sql-view.tsx')).SqlView },
  {
    name: 'upload',
    title: 'Upload',
    icon: 'upload',
    load: async () => (await import('../upload/upload-view.tsx')).UploadView,
  },
  {
    name: 'server',
    title: 'Server',
    icon: 'activity',
    load: async () => (await import('../server/server-view.tsx')).ServerView,
  },
];
