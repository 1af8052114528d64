// The page of console as it is built, served by the function without a cluster behind it, and a
// page of a heading alone: each shown by a real browser until its first paint.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildFunction } from '../../../knative/tools/build/build.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import { Browser } from '../../browser/browser.ts';
import { until } from '../../builders/versioned-kind.ts';
import { endServer, outDir, startServer } from '../handlers/servers.ts';
import type { Sample } from '../runner.ts';
import { median } from '../verdict.ts';

/** A browser tells the time of a paint in steps of 4 ms. */
const SHOWN_PER_RUN = 11;
const START_TIMEOUT_MS = 20_000;
const HEADING = '<!doctype html><title>Ballast</title><h1>Reading …</h1>';

/** The bytes that are read before the first paint can be, without headers, and its time. */
const PAINTED = `new Promise((done) => new PerformanceObserver((list, observer) => {
  const [first] = list.getEntriesByName('first-contentful-paint');
  if (first === undefined) return;
  observer.disconnect();
  const read = [...performance.getEntriesByType('navigation'),
    ...performance.getEntriesByType('resource')
      .filter(({ renderBlockingStatus }) => renderBlockingStatus === 'blocking')];
  done({ paintMs: first.startTime, paintBytes: read.reduce((sum, one) =>
    sum + one.encodedBodySize, 0) });
}).observe({ type: 'paint', buffered: true }))`;

interface Painted {
  readonly paintMs: number;
  readonly paintBytes: number;
}

export interface Pages {
  ours(): Promise<Sample>;
  empty(): Promise<Sample>;
  close(): Promise<void>;
}

export async function startPages(): Promise<Pages> {
  const { dir } = await buildFunction('console', join(outDir, 'console'));
  const sizes = await sizesOf(join(dir, 'page'));
  const port = await freePort();
  const child = startServer(join(dir, 'index.js'), port);
  const heading = createServer((_, answer) => {
    answer.setHeader('content-type', 'text/html; charset=utf-8').end(HEADING);
  }).listen(0, '127.0.0.1');
  let browser: Browser | undefined;
  const close = async (): Promise<void> => {
    await browser?.close();
    heading.close();
    await endServer(child);
  };
  try {
    const url = `http://127.0.0.1:${port}/console`;
    const answers = (): Promise<boolean> =>
      fetch(url).then(
        ({ ok }) => ok,
        () => false,
      );
    await until('the page to be served', answers, START_TIMEOUT_MS);
    const shown = await Browser.open();
    browser = shown;
    return {
      ours: async () => ({ ...sizes, ...(await painted(shown, url)) }),
      empty: () => {
        const { port: at } = heading.address() as AddressInfo;
        return painted(shown, `http://127.0.0.1:${at}/`);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function painted(browser: Browser, url: string): Promise<Sample> {
  const all: Painted[] = [];
  for (let time = 0; time < SHOWN_PER_RUN; time += 1) {
    await browser.show(url);
    all.push((await browser.run(PAINTED)) as Painted);
  }
  return {
    paintMs: median(all.map(({ paintMs }) => paintMs)),
    paintBytes: median(all.map(({ paintBytes }) => paintBytes)),
  };
}

/** Each file of the page; a gateway compresses each by itself. */
async function sizesOf(directory: string): Promise<Sample> {
  const names = await readdir(directory);
  const files = await Promise.all(names.map((name) => readFile(join(directory, name))));
  const sum = (sizes: readonly number[]): number => sizes.reduce((all, size) => all + size, 0);
  return {
    pageBytes: sum(files.map(({ length }) => length)),
    gzipBytes: sum(files.map((file) => gzipSync(file).length)),
  };
}
