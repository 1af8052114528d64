// Reasons against a takeover of a NatsCluster. Each is a sentence that says what to do. Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import { listed } from '../../../shared/stateful/decision.ts';
import {
  orLead,
  refuseMissing,
  refuseNames,
  refuseOperator,
  refuseOthers,
} from '../refuse-found.ts';
import { versionOf } from '../versions.ts';
import type { LegacyNats } from './legacy.ts';
import { makerOf } from './made/makers.ts';
import { MONITORING_PORT } from './ports.ts';
import { grantOf, refuseConfig, refuseMisnamed, refuseUsers } from './refuse-config.ts';
import { refuseLoaded } from './refuse-loaded.ts';
import { refuseStreams } from './refuse-streams.ts';
import { refuseTls } from './refuse-tls.ts';
import { answersOf, configOf, type NatsState, saidBy } from './state.ts';

const LAST_CHANCE =
  'its pods go with it. There is no data in them: make a NatsCluster of ' +
  'ballast.dev, and lead the clients to it.';

/** In the order in which people would look into them. */
export function refusalsOfNats(state: NatsState): readonly Reason[] {
  const missing = refuseMissing(state, LAST_CHANCE);
  const { legacy } = state;
  if (legacy === undefined) return missing;
  return orLead(state, [
    ...missing,
    ...refuseOthers(state),
    ...refuseMisnamed(state),
    ...refuseConfig(state, legacy),
    ...refuseUsers(state),
    ...refuseServers(state, legacy),
    ...refuseStreams(state, legacy),
    ...makerOf(state.takeover.spec.legacy).refuse(state, legacy),
    ...refuseOperator(state, grantOf(state)),
    ...refuseNames(state),
    ...refuseTarget(state, legacy),
    ...refuseRoutes(state, legacy),
  ]);
}

/** From here on servers know accounts, and tell them to each other as those of today do. */
const OLDEST = 2_000;

function refuseServers(state: NatsState, legacy: LegacyNats): readonly Reason[] {
  const { pods, servers, isCut } = state;
  const { kind } = state.takeover.spec.legacy;
  if (isCut) {
    const message =
      `More pods have the labels ${legacy.selector} than any NATS has. Take them off those that ` +
      'are not of this one.';
    return [{ reason: 'TooMany', message }];
  }
  if (pods.length === 0) {
    const message =
      `${kind} ${legacy.namespace}/${legacy.name} has no pod any more, so that nobody is ` +
      'connected. Make a NatsCluster of ballast.dev, and lead the clients to it.';
    return [{ reason: 'NoMembers', message }];
  }
  return [...refuseHostPorts(state), ...(servers === undefined ? [] : refuseAnswers(state))];
}

function refuseHostPorts({ pods }: NatsState): readonly Reason[] {
  const open = pods.filter(({ hasHostPort }) => hasHostPort).map(({ name }) => name);
  if (open.length === 0) return [];
  const message =
    `${listed(open)} can be reached by the address of a node (hostPort), and clients that do so ` +
    'would not be led over. Lead them to the Service of the clients first, and take the port ' +
    'out of the legacy object.';
  return [{ reason: 'HostPorts', message }];
}

function refuseAnswers(state: NatsState): readonly Reason[] {
  const answers = answersOf(state);
  if (answers.length === 0) {
    const { monitoringTls } = makerOf(state.takeover.spec.legacy).words;
    const message =
      `No server says what it runs on, at port 8222 of its pod (${listed(saidBy(state))}). Where ` +
      `monitoring speaks HTTPS (${monitoringTls}) turn that off; where a NetworkPolicy forbids ` +
      'it let pods of takeover in.';
    return [{ reason: 'ServersSilent', message }];
  }
  const tooOld = answers.filter(({ answer }) => versionOf(answer.version) < OLDEST);
  const old = tooOld.map(({ pod, answer }) => `${pod} has ${answer.version}`);
  return [...(old.length === 0 ? [] : [versionTooOld(old)]), ...refuseLoaded(state)];
}

const versionTooOld = (old: readonly string[]): Reason => ({
  reason: 'VersionTooOld',
  message:
    `${listed(old)}, and servers before 2.0 do not pass messages to those of today. Bring them ` +
    'to 2.1.9 first: while the operator runs, by spec.version of the legacy object.',
});

function refuseTarget(state: NatsState, legacy: LegacyNats): readonly Reason[] {
  const { spec, wanted, refused } = state.target;
  const { monitoringPort = MONITORING_PORT } = wanted;
  return [
    ...(refused === undefined ? [] : [refused]),
    ...(spec?.networkPolicy === 'Closed' ? [CLOSED] : []),
    ...(spec?.replicas === 1 ? [SINGLE] : []),
    ...(monitoringPort === MONITORING_PORT ? [] : [MONITORED_ELSEWHERE]),
    ...refuseTls(state, legacy),
  ];
}

const SINGLE: Reason = {
  reason: 'SingleServer',
  message:
    'A NatsCluster of one server has no routes, so that nothing joins it with the old servers. ' +
    'Leave spec.into.spec.replicas out, or write 3.',
};

const MONITORED_ELSEWHERE: Reason = {
  reason: 'MonitoredElsewhere',
  message:
    `It is seen at port ${MONITORING_PORT} of the new servers when clients are back. Leave ` +
    'spec.into.spec.monitoringPort out, and write it afterwards.',
};

/** The new ones have no login to show. */
function refuseRoutes(state: NatsState, { name }: LegacyNats): readonly Reason[] {
  if (configOf(state)?.hasRouteLogin !== true) return [];
  const { routeLogin, object } = makerOf(state.takeover.spec.legacy).words;
  const message =
    `The old servers ask each other for a login (${routeLogin}), and those of a NatsCluster show ` +
    `them none, so both would not be one. Take that out of ${object(name)} while somebody looks ` +
    'after it; or do it by hand, without routes, where all old pods end at once.';
  return [{ reason: 'RoutesClosed', message }];
}

const CLOSED: Reason = {
  reason: 'PolicyClosed',
  message:
    'The NetworkPolicy of the new NatsCluster would not let in those who are clients now. Leave ' +
    'spec.into.spec.networkPolicy out, and write Closed afterwards.',
};
