/**
 * Makes the pictures of docs/images from a server with the demo frames: `node --import tsx scripts/screenshots.mjs`, after a
 * build. Times and memory in them change from run to run; look at each before it is committed.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { chromiumOptions } from '../test/browser/support/chromium.ts';
import { root } from './prepare.mjs';

const folder = join(root, 'docs', 'images');
const mostBytes = 150_000;
const sizes = { wide: { width: 1280, height: 800 }, narrow: { width: 390, height: 844 } };
const sql = `SELECT symbol, side, count(*) AS trades, round(avg(price), 2) AS average, round(sum(price * amount)) AS volume
FROM trades
GROUP BY ALL
ORDER BY volume DESC`;
const csv = 'day,city,degrees,sunny\n2026-01-05,Oslo,-7.5,false\n2026-01-05,Rome,12,true\n2026-01-06,Oslo,-4,true\n';

/** The content of each picture: its address, and actions before it. */
const views = {
  frames: { at: '#/frames', prepare: (page) => page.getByRole('link', { name: 'trades' }).waitFor() },
  rows: {
    at: '#/frames/trades?row=123457&columns=id,timestamp,symbol,price',
    prepare: (page) => page.getByRole('gridcell', { name: '123460', exact: true }).waitFor(),
  },
  columns: {
    at: '#/frames/trades?tab=columns',
    async prepare(page) {
      await page.getByRole('button', { name: /^price/ }).click();
      await page.getByText('Different', { exact: true }).first().waitFor();
    },
  },
  plot: {
    at: '#/frames/trades?tab=plot',
    prepare: (page) =>
      page
        .getByText(/of 1,000,000/)
        .first()
        .waitFor(),
  },
  sql: {
    at: `#/sql?q=${encodeURIComponent(sql)}&engine=local`,
    async prepare(page) {
      await page.locator('.cm-content').getByText('GROUP').waitFor();
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('gridcell').first().waitFor();
    },
  },
  upload: {
    at: '#/upload',
    async prepare(page) {
      const file = { name: 'weather.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) };
      await page.locator('input[type=file]').first().setInputFiles(file);
      await page.getByText('degrees').first().waitFor();
    },
  },
  server: { at: '#/server', prepare: (page) => page.waitForTimeout(9000) },
};

const dataDir = mkdtempSync(join(tmpdir(), 'framehold-pictures-'));
const server = await startServer();
const browser = await chromium.launch(await chromiumOptions());
try {
  mkdirSync(folder, { recursive: true });
  const chosen = process.argv.slice(2);
  for (const [view, picture] of Object.entries(views)) {
    if (chosen.length > 0 && !chosen.includes(view)) continue;
    for (const [size, viewport] of Object.entries(sizes)) {
      for (const theme of ['light', 'dark'])
        await take(`console-${view}-${size}-${theme}.png`, picture, viewport, theme);
    }
  }
} finally {
  await browser.close();
  server.child.kill();
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });
}

async function take(name, { at, prepare }, viewport, theme) {
  const context = await browser.newContext({ locale: 'en-US', timezoneId: 'UTC', viewport, colorScheme: theme });
  try {
    const page = await context.newPage();
    await page.goto(`${server.url}/${at}`);
    await prepare(page);
    // Behind transitions.
    await page.waitForTimeout(300);
    const path = join(folder, name);
    const picture = packed(await page.screenshot());
    writeFileSync(path, picture);
    const bytes = picture.length;
    console.log(`${name} ${Math.round(bytes / 1000)} kB`);
    if (bytes > mostBytes) throw new Error(`${name} is larger than ${mostBytes / 1000} kB`);
  } finally {
    await context.close();
  }
}

/** The same PNG, in fewer bytes: browsers pack in haste, and filters that suit photographs spoil the repetitions of text. */
function packed(png) {
  const kept = [png.subarray(0, 8)];
  const pixels = [];
  for (let at = 8; at < png.length; ) {
    const end = at + 12 + png.readUInt32BE(at);
    const kind = png.toString('latin1', at + 4, at + 8);
    if (kind === 'IDAT') pixels.push(png.subarray(at + 8, end - 4));
    if (kind === 'IEND')
      kept.push(chunk('IDAT', deflateSync(unfiltered(png, inflateSync(Buffer.concat(pixels))), { level: 9 })));
    if (kind !== 'IDAT') kept.push(png.subarray(at, end));
    at = end;
  }
  return Buffer.concat(kept);
}

/** The lines of pixels with filter 0. See the specification of PNG, section 9. */
function unfiltered(png, lines) {
  const pixelBytes = { 2: 3, 6: 4 }[png[25]];
  if (pixelBytes === undefined) throw new Error(`pixels of the kind ${png[25]}`);
  const lineBytes = 1 + png.readUInt32BE(16) * pixelBytes;
  for (let start = 0; start < lines.length; start += lineBytes) {
    const filter = lines[start];
    lines[start] = 0;
    for (let at = start + 1; filter !== 0 && at < start + lineBytes; at++) {
      const isFirst = at - start <= pixelBytes;
      const left = isFirst ? 0 : lines[at - pixelBytes];
      const up = start === 0 ? 0 : lines[at - lineBytes];
      const corner = isFirst || start === 0 ? 0 : lines[at - lineBytes - pixelBytes];
      const guess = [0, left, up, (left + up) >> 1, nearest(left + up - corner, [left, up, corner])][filter];
      lines[at] = (lines[at] + guess) & 255;
    }
  }
  return lines;
}

function nearest(value, [first, ...others]) {
  return others.reduce((best, other) => (Math.abs(other - value) < Math.abs(best - value) ? other : best), first);
}

function chunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

async function startServer() {
  const env = {
    PATH: process.env.PATH,
    HOME: dataDir,
    FRAMEHOLD_DATA_DIR: dataDir,
    FRAMEHOLD_HTTP_BIND_ADDRESS: '127.0.0.1:0',
    FRAMEHOLD_GRPC_PORT: '0',
  };
  const stdio = ['ignore', 'pipe', 'ignore'];
  const child = spawn(process.execPath, [join(root, 'dist', 'main.js'), 'server', '--demo'], { env, stdio });
  let banner = '';
  for await (const text of child.stdout.setEncoding('utf8')) {
    banner += text;
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(banner) ?? [];
    if (url !== undefined && banner.includes('curl')) return { child, url };
  }
  throw new Error(`the server ended before it served: ${banner}`);
}
