// Where the Service of the clients leads: to the old servers, to the new ones, or to nobody since
// somebody has written to it. Pure.
import { NATS_CLUSTER_LABEL } from '../../../shared/api/nats-cluster.ts';
import type { Reason } from '../../../shared/kube/conditions.ts';
import { listed } from '../../../shared/stateful/decision.ts';
import { serviceChanged } from '../blocked.ts';
import type { Takeover } from '../object.ts';
import { type Records, selectorIn, selectorText } from '../records.ts';
import { isBegun } from '../stages.ts';
import type { FoundService } from '../state.ts';
import { CHART_PORT, PORTS_OF_BOTH } from './ports.ts';
import type { NatsState } from './state.ts';

/** It selects the new pods, and no old one. */
export const newSelectorOf = ({
  spec,
}: Pick<Takeover, 'spec'>): Readonly<Record<string, string>> => ({
  [NATS_CLUSTER_LABEL]: spec.into.name,
});

export const isOldSelected = ({ selector }: FoundService, { work }: Records): boolean =>
  selectorText(selector) === work.service.selector;

export const isNewSelected = (
  { selector }: FoundService,
  takeover: Pick<Takeover, 'spec'>,
): boolean => selectorText(selector) === selectorText(newSelectorOf(takeover));

/** Clients are led to the new servers, and the Service does not go with the legacy object. */
export const isLedOver = ({ takeover, client }: NatsState): boolean =>
  client !== undefined && !client.isOwned && isNewSelected(client, takeover);

/**
 * Helm 3 and `kubectl apply` write what they know beside what is there, and no pod has both: it
 * leads to nobody. The mark that they write with it lets it be led over once more.
 */
export function isMerged({ client, takeover }: NatsState, records: Records): boolean {
  const { service } = records.work;
  if (client?.uid !== service.uid || !client.isOwned) return false;
  const both = { ...selectorIn(service.selector), ...newSelectorOf(takeover) };
  return isBegun(records, 'SwitchService') && selectorText(client.selector) === selectorText(both);
}

/** Undefined where it leads as it was confirmed, or over, or can be led over once more. */
export function obstacleInService(state: NatsState, records: Records): Reason | undefined {
  const { client } = state;
  const isKnown = client?.uid === records.work.service.uid && isOldSelected(client, records);
  return isKnown || isLedOver(state) || isMerged(state, records)
    ? portsElsewhere(state)
    : serviceChanged(records, client, 'where clients are');
}

/** Pods that are selected do not help where they have no such port. */
export function portsElsewhere({ client, takeover }: NatsState): Reason | undefined {
  if (client === undefined) return undefined;
  const isNew = isNewSelected(client, takeover);
  const others = (client.ports ?? [])
    .map(({ targetPort }) => targetPort)
    .filter((port) => !PORTS_OF_BOTH.has(port) && (isNew || port !== CHART_PORT))
    .map((port) => String(port));
  if (others.length === 0) return undefined;
  const message =
    `Service ${client.name} leads to targetPort ${listed(others)}, which the ` +
    `${isNew ? 'new' : 'old'} servers do not have, so no client connects by it. Write 4222 for ` +
    'clients, or 8222 for who watches servers, and it goes on.';
  return { reason: 'ServiceChanged', message };
}

/** On rollback: as long as it does not lead back nothing is deleted. */
export function notLedBack(
  { client, takeover }: NatsState,
  { work: { service } }: Records,
): Reason {
  const { name, selector } = service;
  const message =
    client === undefined
      ? `Service ${name} is gone, so nothing leads clients back, and the new servers are kept. ` +
        `Make one with its selector (${selector}), and it goes on.`
      : `Service ${name} does not lead to the old servers (selector ` +
        `${selectorText(client.selector)}), so the new ones are kept. Give it back its selector, ` +
        `and it goes on: ${patchOf(takeover, name, selectorIn(selector))}`;
  return { reason: 'ServiceChanged', message };
}

/** The command by which a person leads a Service elsewhere: of its selector nothing is left. */
export const patchOf = (
  { namespace }: Pick<Takeover, 'namespace'>,
  service: string,
  selector: FoundService['selector'],
): string =>
  `kubectl -n ${namespace} patch service ${service} --type=json -p ` +
  `'[{"op":"add","path":"/spec/selector","value":${JSON.stringify(selector)}}]'`;
