import { render } from 'preact';
import { openSession } from './api/session.ts';
import { App } from './app/app.tsx';
import { applyTheme } from './app/theme.ts';
import { finishLogin } from './login/code-flow.ts';

applyTheme();
const root = document.getElementById('app');
const isLoggedIn = await finishLogin();
if (root !== null) render(<App />, root);
if (!isLoggedIn) void openSession();
