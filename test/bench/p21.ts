// P21: what people wait for before they see anything of ours, and what they load for it: the page
// until its first paint, kubectl ballast until its help, and the reader of the feed as a package.
import { startPages } from './shipped/pages.ts';
import { openPlugin } from './shipped/plugin.ts';
import { packedBytes } from './shipped/reader.ts';
import type { Bench, Sample, Side } from './runner.ts';

const PAGE = 'console';
const EMPTY_PAGE = 'a heading alone';
const ALLOWED = 'allowed';
const PLUGIN = 'kubectl ballast';
const EXECUTABLE = 'kubectl-ballast';
const KUBECTL = 'kubectl 1.36.3';
const BUNDLE = 'its bundle by Node';
const READER = 'reader';
const CLIENT = 'client-node 2.0.1';

/** The first ten packets of a connection, of 1,460 bytes each: what is in them comes at once. */
const FIRST_FLIGHT_BYTES = 14_600;
const PAINT_MS = 1_000;

const inBrowser = { ours: PAGE, against: ALLOWED, limit: 1, better: 'lower' } as const;
const helped = { ours: PLUGIN, against: KUBECTL, limit: 2, better: 'lower' } as const;
const alone = { ...helped, ours: EXECUTABLE } as const;
const stated = { limit: Infinity } as const;

export const bench: Bench = {
  id: 'P21',
  title: 'size and start of the page, of kubectl ballast and of the reader',
  pairs: 5,
  figures: [
    { ...inBrowser, name: 'paintBytes', unit: 'B' },
    { ...inBrowser, name: 'pageBytes', unit: 'B' },
    { ...inBrowser, name: 'pageBytes with gzip', unit: 'B', sample: 'gzipBytes' },
    { ...inBrowser, name: 'paintMs', unit: 'ms' },
    {
      ...inBrowser,
      ...stated,
      name: 'paintMs, against a heading',
      sample: 'paintMs',
      unit: 'ms',
      against: EMPTY_PAGE,
    },
    { ...helped, name: 'helpMs', unit: 'ms' },
    { ...alone, name: 'helpMs alone', sample: 'helpMs', unit: 'ms' },
    {
      ...alone,
      name: 'helpMs, against its bundle',
      sample: 'helpMs',
      unit: 'ms',
      against: BUNDLE,
      limit: 1,
    },
    { ...alone, ...stated, name: 'bytes', unit: 'B' },
    { ...alone, ...stated, name: 'bytes with gzip', sample: 'gzipBytes', unit: 'B' },
    {
      name: 'packedBytes',
      unit: 'B',
      ours: READER,
      against: CLIENT,
      limit: 0.1,
      better: 'lower',
    },
  ],
  open: async () => {
    const packed = await packedBytes();
    const plugin = await openPlugin();
    const pages = await startPages();
    const fixed = (name: string, sample: Sample): Side => ({ name, run: async () => sample });
    const sides = [
      { name: PAGE, run: () => pages.ours() },
      { name: EMPTY_PAGE, run: () => pages.empty() },
      fixed(ALLOWED, {
        paintBytes: FIRST_FLIGHT_BYTES,
        pageBytes: FIRST_FLIGHT_BYTES,
        gzipBytes: FIRST_FLIGHT_BYTES,
        paintMs: PAINT_MS,
      }),
      { name: PLUGIN, run: plugin.throughKubectl },
      { name: EXECUTABLE, run: plugin.executable },
      { name: KUBECTL, run: plugin.kubectl },
      { name: BUNDLE, run: plugin.bundle },
      fixed(READER, { packedBytes: packed.reader }),
      fixed(CLIENT, { packedBytes: packed.client }),
    ];
    return { sides, close: () => pages.close() };
  },
};
