// P8: three thousand custom resources moved to their storage version: ours, which proves it by a
// second pass and then trims, and the migrators of other projects, which trim without.
import { clusterApiSide, knativeSide } from './migration/go-peers.ts';
import { ourSide } from './migration/ours.ts';
import { MigrationWorld } from './migration/world.ts';
import type { Bench, Figure } from './runner.ts';

const OBJECTS = 3_000;
const OURS = 'storage-migration';
const CLUSTER_API = 'CRD migrator of cluster-api 1.14.2';
const KNATIVE = 'migrator of knative.dev/pkg, as of serving 0.50';

const rate = { unit: '1/s', sample: 'objectsPerSecond', ours: OURS, better: 'higher' } as const;

export const bench: Bench = {
  id: 'P8',
  title: `${OBJECTS} custom resources of 1.3 KB moved to their storage version`,
  pairs: 5,
  figures: [
    { name: 'objectsPerSecond', against: CLUSTER_API, limit: 3, ...rate },
    { name: 'objectsPerSecond (knative)', against: KNATIVE, limit: 3, ...rate },
  ] satisfies readonly Figure[],
  open: async () => {
    const world = await MigrationWorld.open(OBJECTS);
    const sides = [
      { name: OURS, side: ourSide() },
      { name: CLUSTER_API, side: clusterApiSide() },
      { name: KNATIVE, side: knativeSide() },
    ];
    return {
      sides: sides.map(({ name, side }) => ({ name, run: () => world.run(side) })),
      close: () => world.close(),
    };
  },
};
