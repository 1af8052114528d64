// `npm run docs:pictures -- URL`: pictures of a console that runs, as it is at that moment, for the
// page about it.
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { answerCommand, readArguments, UsageError } from '../../shared/arguments.ts';

const DIR = 'docs/pictures';
const USAGE = `\
usage: npm run docs:pictures -- URL

Writes pictures of a console that runs to ${DIR}, light and dark. URL is where its page is, such as
http://localhost:8080/console behind kubectl port-forward.
`;
/** Each tab with an element that is there once the cluster has answered. */
const TABS = [
  ['now', '#objects details'],
  ['where', '#lines .row'],
] as const;
const SCHEMES = ['light', 'dark'] as const;
const SHOWN_WITHIN_MS = 15_000;

async function answer(args: readonly string[]): Promise<string> {
  const { values, positionals } = readArguments(args, { help: { type: 'boolean', short: 'h' } });
  if (values.help === true) return USAGE;
  const [url = '', ...more] = positionals;
  if (!URL.canParse(url) || more.length > 0) throw new UsageError('one URL is wanted');
  return takePictures(url);
}

async function takePictures(url: string): Promise<string> {
  const { Browser } = await import('./browser.ts');
  const { until } = await import('../builders/versioned-kind.ts');
  const dir = resolve(import.meta.dirname, '../..', DIR);
  await mkdir(dir, { recursive: true });
  const browser = await Browser.open();
  const written: string[] = [];
  try {
    for (const [tab, selector] of TABS) {
      await browser.show(`${url}#${tab}`);
      await until(selector, async () => (await browser.text(selector)) !== '', SHOWN_WITHIN_MS);
      for (const scheme of SCHEMES) {
        const name = `console-${tab}-${scheme}.webp`;
        await writeFile(join(dir, name), await browser.picture(scheme));
        written.push(`${DIR}/${name}\n`);
      }
    }
    return written.join('');
  } finally {
    await browser.close();
  }
}

await answerCommand(USAGE, answer);
