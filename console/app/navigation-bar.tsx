import { identity, logOut, serverInfo } from '../api/session.ts';
import { needsLogin, token } from '../api/session-token.ts';
import { hrefOf, place } from '../navigation/route.ts';
import { Icon } from '../widgets/icon.tsx';
import { ActivityLink } from './activity-link.tsx';
import { openPalette } from './palette.tsx';
import { type Theme, theme } from './theme.ts';
import { views } from './views.ts';

const nextTheme: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };

export function NavigationBar() {
  const who = identity.value;
  return (
    <header class="navigation">
      <a class="brand" href={hrefOf('frames')}>
        <Icon name="brand" />
        <span class="label">Framehold</span>
      </a>
      <nav aria-label="Views">
        {views.map(({ name, title, icon }) => (
          <a key={name} href={hrefOf(name)} title={title} aria-current={place.value.view === name ? 'page' : undefined}>
            <Icon name={icon} />
            <span class="label">{title}</span>
          </a>
        ))}
      </nav>
      <div class="navigation-end">
        <ActivityLink />
        <button type="button" class="icon-button" title="Commands (Ctrl+K)" onClick={openPalette}>
          <Icon name="search" />
          <span class="label">Commands</span>
        </button>
        <button
          type="button"
          class="icon-button"
          title={`Theme: ${theme.value}`}
          onClick={() => {
            theme.value = nextTheme[theme.value];
          }}
        >
          <Icon name={theme.value === 'dark' ? 'moon' : theme.value === 'light' ? 'sun' : 'contrast'} />
          <span class="label">Theme: {theme.value}</span>
        </button>
        {who?.credential === 'anonymous' && !needsLogin.value && (
          <button
            type="button"
            class="icon-button"
            title="Log in"
            onClick={() => {
              needsLogin.value = true;
            }}
          >
            <Icon name="log-in" />
            <span class="label">Log in</span>
          </button>
        )}
        {token.value !== undefined && (
          <button type="button" class="icon-button" title="Log out" onClick={logOut}>
            <Icon name="log-out" />
            <span class="label">Log out</span>
          </button>
        )}
        <p class="navigation-note label">
          {who !== undefined && who.credential !== 'none' && (
            <span>
              {who.tenant} · {who.role}
            </span>
          )}
          <span>{serverInfo.value?.version === undefined ? '' : `version ${serverInfo.value.version}`}</span>
        </p>
      </div>
    </header>
  );
}
