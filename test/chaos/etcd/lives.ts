// Lives of an EtcdCluster of the model, each from a cluster at rest to one at rest again.
import { loseVolume } from '../../unit/etcd-cluster/model/faults.ts';
import { give, givenTo, ONE, role, user } from '../../unit/etcd-cluster/model/logins.ts';
import { losePod, losePower, MEMORY } from '../../unit/etcd-cluster/model/memory.ts';
import { type Edit, Run } from '../../unit/etcd-cluster/model/run.ts';
import { corrupt, dataOf, fill, freeUp } from '../../unit/etcd-cluster/model/upkeep-model.ts';

export interface Life {
  readonly name: string;
  /** Edits of a cluster that is born, each until it is at rest. */
  readonly before: readonly Edit[];
  /** Misfortune that has befallen it by then. */
  readonly prepare?: (run: Run) => Promise<void>;
  readonly begin: (run: Run) => void;
  /** A person looks now and then. */
  readonly each?: (run: Run) => void;
  readonly isDone?: (run: Run) => boolean;
}

const size = (replicas: number): Edit => ({ replicas });
const edited = (name: string, before: readonly Edit[], edit: Edit): Life => ({
  name,
  before,
  begin: (run) => run.edit(edit),
});
const IMAGE = { image: 'quay.io/coreos/etcd:v3.6.17' };
const OLD = { image: 'quay.io/coreos/etcd:v3.5.35' };
const NEW = { image: 'quay.io/coreos/etcd:v3.6.16' };
const LOGINS: Edit = {
  auth: {
    users: [givenTo('orders', { roles: ['log'] }), user('made')],
    roles: [role('orders', 'ReadWrite'), role('log', 'Write')],
  },
};

const leaderOf = ({ model }: Run): string =>
  model.voters.find(({ id }) => id === model.leaderId)?.name ?? '';
const followerOf = (run: Run): string =>
  run.model.voters.find(({ name }) => name !== leaderOf(run))?.name ?? '';
const isThere = ({ model }: Run): boolean => model.objects('etcdclusters').length > 0;
const isWell = ({ model }: Run): boolean =>
  model.upkeep.alarms.length === 0 &&
  model.voters.every(({ id }) => (dataOf(model, id)?.sizeBytes ?? 0) < 2 ** 30) &&
  [...model.data.values()].every(({ isCorrupt }) => !isCorrupt);
const isRemoved = (run: Run): boolean => run.model.voters.every(({ name }) => name !== 'lost');

/** Its voters know it by this name from now on, so that a test sees when it is gone. */
function lose(run: Run, peer: string): void {
  mark(run, peer);
  loseVolume(run.model, peer);
}

function mark(run: Run, peer: string): void {
  for (const member of run.model.voters) if (member.name === peer) member.name = 'lost';
}

const lostInMemory = (
  name: string,
  loses: (run: Run) => string,
  how: typeof losePod,
  edit?: Edit,
): Life => ({
  name,
  before: [MEMORY],
  begin: (run) => {
    const peer = loses(run);
    mark(run, peer);
    how(run.model, peer);
    if (edit !== undefined) run.edit(edit);
  },
  isDone: isRemoved,
});

export const LIVES: readonly Life[] = [
  edited('born', [], {}),
  edited('born alone', [], size(1)),
  edited('one to three', [size(1)], size(3)),
  edited('three to five', [{}], size(5)),
  edited('five to three', [size(5)], size(3)),
  edited('three to one', [{}], size(1)),
  edited('another image', [{}], IMAGE),
  edited('image and more members', [{}], { ...IMAGE, ...size(5) }),
  edited('image and fewer members', [{}], { ...IMAGE, ...size(1) }),
  edited('a minor version', [OLD], NEW),
  edited('logins on', [size(1)], ONE),
  edited('other users', [size(1), ONE], LOGINS),
  edited('logins off', [size(1), LOGINS], { auth: undefined }),
  edited('born in memory', [], MEMORY),
  edited('another image in memory', [MEMORY], IMAGE),
  edited('a minor version in memory', [MEMORY], { image: 'quay.io/coreos/etcd:v3.7.3' }),
  edited('five to three, and another image, in memory', [{ ...MEMORY, ...size(5) }], {
    ...IMAGE,
    ...size(3),
  }),
  lostInMemory('the pod of a follower in memory', followerOf, losePod),
  lostInMemory('the pod of a leader in memory, and another image', leaderOf, losePod, IMAGE),
  lostInMemory('the power of a leader in memory', leaderOf, losePower),
  {
    name: 'a follower lost',
    before: [{}],
    begin: (run) => lose(run, followerOf(run)),
    isDone: isRemoved,
  },
  {
    name: 'the leader lost',
    before: [{}],
    begin: (run) => lose(run, leaderOf(run)),
    isDone: isRemoved,
  },
  {
    name: 'two of five lost',
    before: [size(5)],
    begin: (run) => {
      for (const name of ['etcd-1', 'etcd-3']) lose(run, name);
    },
    isDone: isRemoved,
  },
  {
    name: 'a member corrupt',
    before: [{}],
    begin: (run) => corrupt(run.model, followerOf(run), leaderOf(run)),
    isDone: isWell,
  },
  {
    name: 'the leader corrupt',
    before: [{}],
    begin: (run) => corrupt(run.model, leaderOf(run), followerOf(run)),
    isDone: isWell,
  },
  {
    name: 'full of history',
    before: [{}],
    begin: ({ model }) => fill(model, 0.2, 0.8),
    isDone: isWell,
  },
  { name: 'mostly free', before: [{}], begin: ({ model }) => freeUp(model) },
  {
    name: 'quorum lost, and confirmed',
    before: [{}],
    prepare: async (run) => {
      for (const name of ['etcd-1', 'etcd-2']) loseVolume(run.model, name);
      await run.idle();
    },
    begin: (run) => void run.confirm(),
    isDone: ({ model }) => model.forced === 1,
  },
  {
    name: 'asleep and awake',
    before: [{}],
    begin: (run) => run.edit(size(0)),
    each: (run) => {
      if (run.model.processes.size === 0) run.edit(size(3));
    },
    isDone: ({ model }) => model.processes.size > 0,
  },
  {
    name: 'deleted and made again',
    before: [{}],
    begin: (run) => run.deleteCluster(),
    each: (run) => {
      if (!isThere(run)) run.makeCluster();
    },
  },
];

/** At rest before the life begins. */
export async function preparedFor({ before, prepare }: Life): Promise<Run> {
  const run = new Run();
  give(run, 'of-before');
  for (const edit of before) {
    run.edit(edit);
    await run.converge();
  }
  await prepare?.(run);
  return run;
}
