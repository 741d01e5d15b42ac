import { render } from 'preact';
import { openSession } from './api/session.ts';
import { App } from './app/app.tsx';
import { applyTheme } from './app/theme.ts';
import { finishLogin } from './login/code-flow.ts';

applyTheme();
const root = document.getElementById('app');
const isLoggedIn = await finishLogin();
if (!isLoggedIn) void openSession();
await pagePainted();
if (root !== null) {
  root.replaceChildren();
  render(<App />, root);
}

/** Resolves when the page's own content is visible, before the app takes its time. A page in the background is never painted. */
function pagePainted(): Promise<void> {
  if (document.visibilityState === 'hidden') return Promise.resolve();
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}
