// Things to know of a takeover of an EtcdCluster of aenix's operator that do not speak against it.
// Pure.
import type { Reason } from '../../../shared/kube/conditions.ts';
import { listed } from '../../../shared/stateful/decision.ts';
import type { LegacyEtcd } from '../legacy.ts';
import type { State } from '../state.ts';
import { optionsIn } from './aenix-options.ts';
import { podsIn } from './aenix-pods.ts';

export const notesOnAenix = (state: State, legacy: LegacyEtcd): readonly Reason[] => [
  ...webhookNotes(state),
  unready(legacy),
  ...differing(legacy),
];

function webhookNotes({ operators }: State): readonly Reason[] {
  const running = operators.filter(({ replicas }) => replicas > 0);
  if (running.length === 0) return [];
  const starts = running.map(
    ({ namespace, name, replicas }) =>
      `kubectl -n ${namespace} scale deployment ${name} --replicas=${replicas}`,
  );
  const message =
    'Webhooks of its operator stop with it: until it is started again nobody makes or changes an ' +
    'EtcdCluster of etcd.aenix.io, in any namespace; members of others run on. A rollback starts ' +
    `it. If there are others do so yourself once all is done: ${starts.join('; ')}`;
  return [{ reason: 'WebhooksStop', message }];
}

const unready = ({ clientService }: LegacyEtcd): Reason => ({
  reason: 'PodsUnready',
  message:
    'While writers wait its pods are not Ready, since their readiness probe asks for alarms: ' +
    `Service ${clientService} leads no new connection to them, and those that are open are read ` +
    'by as before. A member that starts anew meanwhile is ended by its startup probe again and ' +
    'again, until writers go on: move no pods.',
});

function differing({ spec }: LegacyEtcd): readonly Reason[] {
  const dropped = [
    ...optionsIn(spec).dropped.map((name) => `spec.options ${name}`),
    ...podsIn(spec).dropped.map((name) => `${name} in spec.podTemplate`),
  ];
  if (dropped.length === 0) return [];
  const message = `The new members will not have ${listed(dropped)}.`;
  return [{ reason: 'NotCarriedOver', message }];
}
