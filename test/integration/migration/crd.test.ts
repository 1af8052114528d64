// StorageMigration as the real API server takes it: what is refused, and with which sentence, and
// what is filled in.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  STORAGE_MIGRATIONS,
  type StorageMigrationSpec,
} from '../../../shared/api/storage-migration.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { MigrationWorld } from './world.ts';
import { refusalOf } from '../../builders/refusal-of.ts';

let world: MigrationWorld;

beforeAll(async () => {
  world = new MigrationWorld(sharedPlane());
});

afterAll(async () => {
  await world?.stop();
});

const WIDGETS = { group: 'example.com', resource: 'widgets' };

const migration = (spec: object | undefined, name = 'm'): Manifest => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'StorageMigration',
  metadata: { name },
  ...(spec === undefined ? {} : { spec }),
});

const of = (resource: string, group = 'example.com'): object => ({ resource: { group, resource } });
const also = (more: object): object => ({ resource: WIDGETS, ...more });

const PLURAL = 'Write the plural in lower case, such as widgets, as kubectl';
const GROUP = 'Write the API group alone and in lower case, such as apps or example.com';
const NEVER = 'Objects of this kind cannot be rewritten; events go by themselves after an hour';
const PATH = 'Write the path as status.message names it, such as .spec.legacy.';
const SECOND = 'The second pass is always made, because etcd alone does not show';
const DRY = 'A dry run proves nothing, so nothing can be trimmed after it; set trim to Never';

/** A name, the spec, the field that the refusal names, and words of its message. */
type Row = readonly [title: string, spec: object | undefined, field: string, words: string];

const WISHES: readonly Row[] = [
  ['a mode of nobody', also({ mode: 'ballast' }), 'spec.mode', '"Ballast", "InTree", "Community"'],
  [
    'a dry run of another migrator',
    also({ dryRun: true, trim: 'Never', mode: 'InTree' }),
    'spec.mode',
    'Another migrator cannot run dry; set mode to Ballast, or dryRun to false.',
  ],
];

const AGREEING: readonly Row[] = [
  ['etcd alone', also({ verify: ['Etcd'] }), 'spec.verify', SECOND],
  ['nobody who agrees', also({ verify: [] }), 'spec.verify', SECOND],
  ['a stranger', also({ verify: ['SecondPass', 'Git'] }), 'spec.verify[1]', '"SecondPass", "Etcd"'],
];

const ROWS: readonly Row[] = [
  ['no spec', undefined, 'spec', 'Required value'],
  ['no kind', {}, 'spec.resource', 'Required value'],
  ['a group alone', { resource: { group: 'apps' } }, 'spec.resource.resource', 'Required value'],
  ['a kind by its name', of('Widget'), 'spec.resource.resource', PLURAL],
  ['a sub-resource', of('widgets/status'), 'spec.resource.resource', PLURAL],
  ['a wildcard', of('*'), 'spec.resource.resource', PLURAL],
  ['a long plural', of('w'.repeat(64)), 'spec.resource.resource', 'may not be more than 63'],
  ['a group with version', of('widgets', 'example.com/v1'), 'spec.resource.group', GROUP],
  ['a group in capitals', of('widgets', 'Example.com'), 'spec.resource.group', GROUP],
  ['a group called core', of('secrets', 'core'), 'spec.resource.group', GROUP],
  ['events', of('events', ''), 'spec.resource', NEVER],
  ['events in their own group', of('events', 'events.k8s.io'), 'spec.resource', NEVER],
  ['what is not stored', of('bindings', ''), 'spec.resource', NEVER],
  [
    'no concurrency',
    also({ budget: { concurrency: 0 } }),
    'spec.budget.concurrency',
    'or equal to 1',
  ],
  [
    '33 at once',
    also({ budget: { concurrency: 33 } }),
    'spec.budget.concurrency',
    'or equal to 32',
  ],
  [
    'no requests',
    also({ budget: { requestsPerSecond: 0 } }),
    'spec.budget.requestsPerSecond',
    'or equal to 1',
  ],
  ['another trim', also({ trim: 'Always' }), 'spec.trim', '"OnProof", "Never"'],
  ['a dry run that trims', also({ dryRun: true }), 'spec.trim', DRY],
  ['101 retries', also({ retries: 101 }), 'spec.retries', 'or equal to 100'],
  ['a field without dot', also({ acceptedLoss: ['spec.a'] }), 'spec.acceptedLoss[0]', PATH],
  [
    'a field twice',
    also({ acceptedLoss: ['.a', '.a'] }),
    'spec.acceptedLoss[1]',
    'Duplicate value',
  ],
  [
    '65 fields',
    also({ acceptedLoss: Array.from({ length: 65 }, (_, index) => `.f${index}`) }),
    'spec.acceptedLoss',
    'at most 64 items',
  ],
];

test.each<Row>([...WISHES, ...AGREEING, ...ROWS])(
  '%s is refused',
  async (_what, spec, field, words) => {
    const said = await refusalOf(
      world.kube.create(STORAGE_MIGRATIONS, migration(spec), { dryRun: true }),
    );
    expect(said).toContain(`${field}: `);
    expect(said).toContain(words);
  },
);

const DEFAULTS: StorageMigrationSpec = {
  resource: WIDGETS,
  budget: { concurrency: 16 },
  mode: 'Ballast',
  trim: 'OnProof',
  pause: false,
  dryRun: false,
  retries: 3,
  verify: ['SecondPass'],
  cleanManagedFields: true,
};

test.each<[string, object, StorageMigrationSpec]>([
  ['a kind alone', also({}), DEFAULTS],
  [
    'a kind of the core group',
    { resource: { resource: 'configmaps' } },
    { ...DEFAULTS, resource: { group: '', resource: 'configmaps' } },
  ],
  [
    'part of a budget',
    also({ budget: { requestsPerSecond: 9 } }),
    { ...DEFAULTS, budget: { requestsPerSecond: 9, concurrency: 16 } },
  ],
  [
    'a dry run',
    also({ dryRun: true, trim: 'Never' }),
    { ...DEFAULTS, dryRun: true, trim: 'Never' },
  ],
])('%s is taken, with its defaults', async (_what, spec, filled) => {
  const { object } = await world.kube.create(STORAGE_MIGRATIONS, migration(spec), { dryRun: true });
  expect(object['spec']).toEqual(filled);
});

test('a migration is of one kind for all its life', async () => {
  const name = 'moved';
  await world.kube.create(STORAGE_MIGRATIONS, migration(also({}), name));
  const body = { spec: { resource: { resource: 'gadgets' } } };
  const said = await refusalOf(
    world.kube.patch(STORAGE_MIGRATIONS, { name }, { type: 'merge', body }),
  );
  expect(said).toContain('A migration is of one kind for all its life; create another one');
});
