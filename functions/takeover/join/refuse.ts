// Reasons against a takeover in which members of the new EtcdCluster join the old ones: what they
// could not join, or what would put the quorum at risk. Each says what to do. Pure.
import { joinsText } from '../../../shared/api/etcd-joins.ts';
import type { Reason } from '../../../shared/kube/conditions.ts';
import { versionIn } from '../../../shared/etcd/version.ts';
import { textOf } from '../../../shared/kube/json.ts';
import { listed } from '../../../shared/stateful/decision.ts';
import { answersOf } from '../answers.ts';
import { fieldOf, type LegacyEtcd } from '../legacy.ts';
import type { State } from '../state.ts';
import { versionOf } from '../versions.ts';
import { addressOf } from './begin.ts';
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
    ...elsewhere(state),
    ...(wantsPeerTls(state) ? [PEERS_WANT_TLS] : []),
  ];
}

const wantsPeerTls = ({ target }: State): boolean =>
  fieldOf(fieldOf(target.wanted, 'tls'), 'peers')['mode'] === 'Mutual';

const PEERS_WANT_TLS: Reason = {
  reason: 'PeersWantTls',
  message:
    'New members would know each other over TLS, and the old ones do not, so that none could ' +
    'join. Leave spec.into.spec.tls.peers out; with TLS it is spec.mode: Restore.',
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

/** An EtcdCluster lets its members be led to old ones at these addresses alone. */
function elsewhere(state: State): readonly Reason[] {
  const { namespace } = state.takeover;
  const known = knownTo(state);
  const isSecret = known.some(({ peerUrls }) => peerUrls.some((url) => url.startsWith('https:')));
  const isTold = known.length === 0 || isSecret || known.some(({ name }) => name === '');
  if (isTold) return [];
  const old = known.map((member) => addressOf(member));
  const told = joinsText(
    old.map(({ name, peerUrl: url }) => ({ name, url })),
    namespace,
  );
  if (typeof told === 'string') return [];
  const each = known.map(({ name, peerUrls }) => `${name} at ${listed(peerUrls)}`);
  const message =
    `New members join none but those that an operator made, at http://POD.NAME.${namespace}.svc:` +
    `2380, and here are ${listed(each)}. Write spec.mode: Restore.`;
  return [{ reason: 'PeersElsewhere', message }];
}

function alone(state: State): readonly Reason[] {
  if (knownTo(state).length !== 1) return [];
  const message =
    'It has one member: were another to join and not to start, there would be no quorum, and ' +
    'nobody could take it away again. Write spec.mode: Restore.';
  return [{ reason: 'SingleMember', message }];
}
