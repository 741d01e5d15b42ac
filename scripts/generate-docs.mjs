// Writes the pages of docs/reference that are made from tables in the code. `node scripts/generate-docs.mjs`
import { writeFileSync } from 'node:fs';
import { tsImport } from 'tsx/esm/api';

const { settingsPage } = await tsImport('../src/config/settings-page.ts', import.meta.url);

const pages = {
  'docs/reference/settings.md': settingsPage,
};

for (const [path, render] of Object.entries(pages)) {
  writeFileSync(new URL(`../${path}`, import.meta.url), render());
}
