// P7: three thousand custom resources moved to their storage version, with the proof and the trim,
// on an API server that somebody else reads from: ours, and the migrator of Kubernetes itself, as
// it is met by whoever creates its object on a kind that nobody writes at the moment.
import { inTreeSide } from './migration/in-tree.ts';
import { ourSide } from './migration/ours.ts';
import { MigrationWorld, type MigrationSide } from './migration/world.ts';
import type { Bench, Figure, Sample } from './runner.ts';

const OBJECTS = 3_000;
const OURS = 'storage-migration';
const PEER = 'in-tree migrator of Kubernetes 1.36.3, idle kind';
const ALLOWED = 'allowed';
const READER_RATIO_MAX = 1.3;

const against = { ours: OURS, against: PEER } as const;

export const bench: Bench = {
  id: 'P7',
  title: `${OBJECTS} custom resources of 1.3 KB moved to their storage version`,
  pairs: 5,
  figures: [
    { name: 'objectsPerSecond', unit: '1/s', limit: 2.5, better: 'higher', ...against },
    { name: 'firstWriteMs', unit: 'ms', limit: 0.05, better: 'lower', ...against },
    { name: 'endToEndMs', unit: 'ms', limit: 0.2, better: 'lower', ...against },
    { name: 'cpuMsPerObject', unit: 'ms', limit: 1, better: 'lower', ...against },
    {
      name: 'readerP99',
      unit: 'times idle',
      ours: OURS,
      against: ALLOWED,
      limit: 1,
      better: 'lower',
    },
    {
      name: 'readerP99 of both',
      sample: 'readerP99',
      unit: 'times idle',
      limit: Infinity,
      better: 'lower',
      ...against,
    },
  ] satisfies readonly Figure[],
  open: async () => {
    const world = await MigrationWorld.open(OBJECTS);
    const run = async (side: MigrationSide): Promise<Sample> => {
      const sample = await world.run(side);
      const { readerP99Ms = 0, idleReaderP99Ms = 1 } = sample;
      return { ...sample, readerP99: readerP99Ms / idleReaderP99Ms };
    };
    const [ours, peer] = [ourSide(), inTreeSide({ isIdle: true })];
    return {
      sides: [
        { name: OURS, run: () => run(ours) },
        { name: PEER, run: () => run(peer) },
        { name: ALLOWED, beside: OURS, run: async () => ({ readerP99: READER_RATIO_MAX }) },
      ],
      close: () => world.close(),
    };
  },
};
