import { useSignalEffect } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api/api-error.ts';
import { openSession, sessionError } from '../api/session.ts';
import { needsLogin } from '../api/session-token.ts';
import { LoginView } from '../login/login-view.tsx';
import { place } from '../navigation/route.ts';
import { Notices } from '../widgets/notices.tsx';
import { FileDrop } from './file-drop.tsx';
import { NavigationBar } from './navigation-bar.tsx';
import { CommandPalette } from './palette.tsx';
import { type View, views } from './views.ts';

export function App() {
  return (
    <div class="app">
      <button type="button" class="skip-link" onClick={() => document.getElementById('content')?.focus()}>
        Skip to the content
      </button>
      <NavigationBar />
      <main id="content" class="content" tabIndex={-1}>
        {needsLogin.value ? <LoginView /> : <CurrentView />}
      </main>
      <CommandPalette />
      <Notices />
      <FileDrop />
    </div>
  );
}

function CurrentView() {
  const [shown, setShown] = useState<{ readonly view: View; readonly Component: ComponentType } | undefined>();
  const [failure, setFailure] = useState<unknown>();
  useSignalEffect(() => {
    const view = views.find(({ name }) => name === place.value.view);
    if (view === undefined) {
      setFailure(new Error(`there is no view ${place.value.view}`));
      return;
    }
    document.title = `${view.title} · Framehold`;
    view.load().then(
      (Component) => {
        setFailure(undefined);
        setShown({ view, Component });
      },
      (error: unknown) => setFailure(error),
    );
  });
  useFocusInContent(`${shown?.view.name} ${place.value.segments.join('/')}`);
  if (sessionError.value !== undefined) {
    return (
      <div class="empty" role="alert">
        <p>{messageOf(sessionError.value)}</p>
        <button type="button" class="button" onClick={() => void openSession()}>
          Try again
        </button>
      </div>
    );
  }
  if (failure !== undefined) {
    return (
      <div class="empty" role="alert">
        <p>{messageOf(failure)}</p>
      </div>
    );
  }
  return shown === undefined ? <div class="empty" aria-busy="true" /> : <shown.Component key={shown.view.name} />;
}

/** If the focused element was removed with the old view, the next Tab begins in the new one. */
function useFocusInContent(shownPlace: string): void {
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current && document.activeElement === document.body)
      document.getElementById('content')?.focus({ preventScroll: true });
    isFirst.current = shownPlace.startsWith('undefined');
  }, [shownPlace]);
}
