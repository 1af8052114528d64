// The kinds that are shown: what their conditions ought to be, what to do where they are not, and
// which fields of the status a person looks for first.
import { METADATA_FEEDS } from '../../shared/api/metadata-feed.ts';
import { WATCHED_KINDS, type WatchedKind } from '../../shared/kube/swept-kinds.ts';
import type { ResourceRef } from '../../shared/kube/objects.ts';
import type { Severity } from './answers.ts';

/** The worst first. */
export const SEVERITIES: readonly Severity[] = ['critical', 'warning', 'unknown', 'note'];

export interface Expected {
  readonly condition: string;
  readonly status: 'True' | 'False';
  readonly otherwise: Severity;
  /** Whether an object may be without it for ever. */
  readonly isOptional?: boolean;
  /** It is only looked at in objects of this phase. */
  readonly phase?: string;
  /** A sentence that says what to do. */
  readonly next: string;
  /** Other ones, where the condition has this reason. */
  readonly nextByReason?: Readonly<Record<string, string>>;
}

export interface ShownKind {
  readonly kind: string;
  readonly ref: ResourceRef;
  /** In the repository. */
  readonly docs: string;
  /** Undefined for feeds, whose status has the time of their last sweep. */
  readonly watched: WatchedKind | undefined;
  readonly expects: readonly Expected[];
  /** Phases in which nothing is done any more. */
  readonly over: readonly string[];
  /** Fields that are shown, and where they stand. */
  readonly facts: readonly (readonly [label: string, path: string])[];
  /** A list in the status. */
  readonly members?: string;
}

const READY = { condition: 'Ready', status: 'True' } as const;
const DEGRADED = { condition: 'Degraded', status: 'False', isOptional: true } as const;
const AS_IT_SAYS = 'Do what its message says; the page has each reason with its way out.';
const WAITS = 'Wait while its plan moves on; where it waits, the page says for what.';

type Told = Omit<ShownKind, 'kind' | 'ref' | 'watched' | 'over'> & { readonly over?: string[] };

const TOLD: Readonly<Record<string, Told>> = {
  NatsCluster: {
    docs: 'docs/nats.md#when-it-waits',
    expects: [
      { ...READY, otherwise: 'critical', next: WAITS },
      { ...DEGRADED, otherwise: 'warning', next: AS_IT_SAYS },
    ],
    facts: [
      ['servers', 'status.ready'],
      ['version', 'status.version'],
      ['leader', 'status.metaLeader'],
    ],
    members: 'servers',
  },
  EtcdCluster: {
    docs: 'docs/etcd.md#when-it-waits',
    expects: [
      {
        condition: 'Quorate',
        status: 'True',
        otherwise: 'critical',
        next: 'Bring back the members that are away, or read its recovery plan.',
      },
      { ...READY, otherwise: 'critical', next: WAITS },
      { ...DEGRADED, otherwise: 'warning', next: AS_IT_SAYS },
      {
        condition: 'BackupReady',
        status: 'True',
        otherwise: 'warning',
        isOptional: true,
        next: 'Look at the EtcdBackupSchedule of it and at the EtcdBackups that failed.',
        nextByReason: {
          NoSchedule: 'Make an EtcdBackupSchedule of it, as in docs/etcd-backup-schedule.md.',
        },
      },
    ],
    facts: [
      ['voters', 'status.voters'],
      ['version', 'status.version'],
      ['leader', 'status.leader'],
      ['database', 'status.database'],
      ['backup', 'status.backup.takenAt'],
      ['quorum lost', 'status.quorumLostSince'],
      ['recovery', 'status.recovery.command'],
    ],
    members: 'members',
  },
  EtcdPeer: {
    docs: 'docs/etcd.md#when-it-waits',
    // That it is not ready is said of its cluster.
    expects: [{ ...DEGRADED, otherwise: 'warning', next: AS_IT_SAYS }],
    facts: [
      ['cluster', 'spec.cluster'],
      ['phase', 'status.phase'],
    ],
  },
  EtcdBackup: {
    docs: 'docs/etcd-backup.md#when-it-waits-or-fails',
    expects: [
      {
        condition: 'Complete',
        status: 'True',
        otherwise: 'warning',
        phase: 'Failed',
        next: 'Put right what its error names, then make another EtcdBackup.',
      },
      { ...DEGRADED, otherwise: 'warning', next: AS_IT_SAYS },
    ],
    over: ['Complete', 'Failed'],
    facts: [
      ['phase', 'status.phase'],
      ['taken', 'status.backup.takenAt'],
      ['revision', 'status.backup.revision'],
      ['location', 'status.location'],
      ['rehearsed', 'status.rehearsal.rehearsedAt'],
      ['error', 'status.error.message'],
    ],
  },
  EtcdBackupSchedule: {
    docs: 'docs/etcd-backup-schedule.md#when-it-does-not-do-what-it-should',
    expects: [
      {
        ...READY,
        otherwise: 'warning',
        next: 'Look at its EtcdBackups: the newest good one is older than it promises.',
      },
      { ...DEGRADED, otherwise: 'warning', next: AS_IT_SAYS },
    ],
    facts: [
      ['newest', 'status.newest.takenAt'],
      ['good until', 'status.goodUntil'],
      ['next', 'status.nextScheduleTime'],
      ['kept', 'status.kept'],
    ],
  },
  EtcdRestore: {
    docs: 'docs/etcd-backup.md#restore',
    expects: [
      {
        condition: 'Complete',
        status: 'True',
        otherwise: 'warning',
        phase: 'Failed',
        next: 'Put right what its message names, then make another EtcdRestore.',
      },
      { ...DEGRADED, otherwise: 'warning', next: AS_IT_SAYS },
    ],
    over: ['Complete', 'Failed'],
    facts: [
      ['phase', 'status.phase'],
      ['cluster', 'spec.etcdCluster.name'],
      ['revision', 'status.revision'],
      ['error', 'status.error.message'],
    ],
  },
  StorageMigration: {
    docs: 'docs/storage-migration.md#when-it-is-blocked',
    expects: [
      {
        condition: 'Blocked',
        status: 'False',
        otherwise: 'warning',
        isOptional: true,
        next: 'Remove what blocks it; it goes on by itself.',
      },
    ],
    over: ['Done'],
    facts: [
      ['phase', 'status.phase'],
      ['to version', 'status.target.version'],
      ['objects', 'status.progress.total'],
      ['done', 'status.progress.done'],
      ['per second', 'status.progress.perSecond'],
      ['left', 'status.progress.left'],
      ['failed', 'status.progress.failed'],
      ['proof', 'status.proof.oracle'],
      ['proved at', 'status.proof.at'],
    ],
  },
  Takeover: {
    docs: 'docs/takeover.md#when-it-waits',
    expects: [
      {
        condition: 'Planned',
        status: 'True',
        otherwise: 'warning',
        next: 'Read what speaks against it: npm run takeover prints the plan.',
      },
      { ...DEGRADED, otherwise: 'warning', next: AS_IT_SAYS },
    ],
    over: ['Done', 'RolledBack'],
    facts: [
      ['phase', 'status.phase'],
      ['into', 'spec.into.name'],
      ['plan', 'status.plan.id'],
    ],
    members: 'members',
  },
};

const FEEDS: ShownKind = {
  kind: 'MetadataFeed',
  ref: METADATA_FEEDS,
  docs: 'docs/feed.md#status',
  watched: undefined,
  expects: [
    {
      ...READY,
      otherwise: 'critical',
      next: 'Look whether NATS is reached and what its message says; readers keep what they have.',
    },
    {
      condition: 'InSync',
      status: 'True',
      otherwise: 'warning',
      next: 'Wait for the next sweep, which repairs it; if it stays so, read the log of metadata.',
    },
    { ...DEGRADED, otherwise: 'warning', next: AS_IT_SAYS },
  ],
  over: [],
  facts: [
    ['version', 'status.version'],
    ['epoch', 'status.epoch'],
    ['swept', 'status.sweptAt'],
    ['healed', 'status.events.healed'],
    ['unfounded', 'status.events.unfounded'],
  ],
};

export const SHOWN_KINDS: readonly ShownKind[] = [
  FEEDS,
  ...WATCHED_KINDS.flatMap((watched) => {
    const { kind, ref } = watched;
    const told = TOLD[kind];
    return told === undefined ? [] : [{ kind, ref, watched, over: [], ...told }];
  }),
];
