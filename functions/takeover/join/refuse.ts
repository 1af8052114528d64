// Reasons against a takeover in which members of the new EtcdCluster join the old ones: what they
// could not join, or what would put the quorum at risk. Each says what to do. Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import { versionIn } from '../../../shared/etcd/version.ts';
import { textOf } from '../../../shared/kube/json.ts';
import { listed } from '../../../shared/stateful/decision.ts';
import { answersOf } from '../answers.ts';
import { fieldOf, type LegacyEtcd } from '../legacy.ts';
import type { State } from '../state.ts';
import { versionOf } from '../versions.ts';
import { joins } from './mode.ts';

/** Version 3.5 of etcd. */
const NEWEST = 3_005;

export function refuseJoin(state: State): readonly Reason[] {
  const { legacy } = state;
  if (legacy === undefined || !joins(state)) return [];
  return [
    ...peersOverTls(state, legacy),
    ...tooNew(state),
    ...unfitImage(state),
    ...notWhole(state),
    ...alone(state),
    ONLY_PLANNED,
  ];
}

const ONLY_PLANNED: Reason = {
  reason: 'OnlyPlanned',
  message:
    'Mode Join is planned by this version, and not carried out: nothing is begun. To have it ' +
    'taken over now write spec.mode: Restore.',
};

const knownTo = (state: State) => answersOf(state)[0]?.answer.members ?? [];

/** The members themselves know best; the object says it where none of them was asked. */
function peersOverTls(state: State, legacy: LegacyEtcd): readonly Reason[] {
  const told = fieldOf(fieldOf(fieldOf(legacy.spec, 'TLS'), 'static'), 'member');
  const urls = knownTo(state).flatMap(({ peerUrls }) => peerUrls);
  const isTold = textOf(told['peerSecret']) !== '';
  if (!isTold && !urls.some((url) => url.startsWith('https:'))) return [];
  const message =
    'Its members know each other by certificates of an authority of their own, under names that ' +
    'new members do not have, so that none could join. Write spec.mode: Restore.';
  return [{ reason: 'PeersHaveTls', message }];
}

function tooNew(state: State): readonly Reason[] {
  const versions = answersOf(state).map(({ answer }) => answer.status.version);
  const newest = versions.toSorted((one, other) => versionOf(other) - versionOf(one))[0];
  if (newest === undefined || versionOf(newest) <= NEWEST) return [];
  const message =
    `It runs etcd ${newest}, and members join up to 3.5 alone: later ones have been seen to take ` +
    'others for removed in a cluster that grew up from 3.3. Write spec.mode: Restore.';
  return [{ reason: 'VersionTooNew', message }];
}

/** A tag that tells no version is refused by the schema of EtcdClusters. */
function unfitImage({ target }: State): readonly Reason[] {
  const image = target.spec?.image;
  const version = versionIn(image ?? '');
  if (image === undefined || version?.minor === 5) return [];
  const message =
    `New members would run ${image}, and only those of 3.5 join members this old. Leave ` +
    'spec.into.spec.image out, or write one of 3.5; on to 3.6 leads spec.mode: Restore.';
  return [{ reason: 'VersionUnfit', message }];
}

/** One that joins counts for the quorum before it has started. */
function notWhole(state: State): readonly Reason[] {
  const answers = answersOf(state);
  if (!answers.some(({ answer }) => answer.isQuorate)) return [];
  const answered = new Set(answers.map(({ answer }) => answer.status.header.memberId));
  const down = knownTo(state).filter(({ id }) => !answered.has(id));
  if (down.length === 0) return [];
  const names = down.map(({ name, id }) => name || `an unstarted member ${id}`).toSorted();
  const message =
    `Of its members ${listed(names)} does not answer. A member that joins counts before it has ` +
    'started, so that all the others have to be there: bring it back with its data, or remove it ' +
    '(etcdctl member remove). Or write spec.mode: Restore, for which a quorum is enough.';
  return [{ reason: 'MembersDown', message }];
}

function alone(state: State): readonly Reason[] {
  if (knownTo(state).length !== 1) return [];
  const message =
    'It has one member: were another to join and not to start, there would be no quorum, and ' +
    'nobody could take it away again. Write spec.mode: Restore.';
  return [{ reason: 'SingleMember', message }];
}
