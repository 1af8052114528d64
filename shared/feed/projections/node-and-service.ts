// The projections of nodes and services, through which traffic goes.
import type { PortMessage } from '../messages.ts';
import type { Aspect, SourceObject } from './source.ts';
import {
  conditionIn,
  fieldsIn,
  listIn,
  numberIn,
  said,
  textIn,
  textMapIn,
  textsIn,
  unlessEmpty,
} from './values.ts';

const NODE_IP_TYPES: readonly unknown[] = ['InternalIP', 'ExternalIP'];

export function nodeAspect(node: SourceObject): Aspect {
  const status = fieldsIn(node['status']);
  const addresses = listIn(status['addresses']).map(fieldsIn);
  return said<Aspect>({
    labels: textMapIn(node.metadata.labels),
    ready: conditionIn(status, 'Ready') ?? false,
    reason: fieldsIn(node['spec'])['unschedulable'] === true ? 'Unschedulable' : undefined,
    ips: textsIn(
      addresses.filter(({ type }) => NODE_IP_TYPES.includes(type)).map(({ address }) => address),
    ),
  });
}

export function serviceAspect(service: SourceObject): Aspect {
  const spec = fieldsIn(service['spec']);
  return said<Aspect>({
    labels: textMapIn(service.metadata.labels),
    ips: textsIn([...clusterIps(spec), ...listIn(spec['externalIPs']), ...ingressIps(service)]),
    ports: portsIn(spec['ports']),
    selector: textMapIn(spec['selector']),
  });
}

/** A headless service has the word `None` for its address. */
function clusterIps(spec: Readonly<Record<string, unknown>>): readonly unknown[] {
  const all = listIn(spec['clusterIPs']);
  return (all.length === 0 ? [spec['clusterIP']] : all).filter((ip) => ip !== 'None');
}

function ingressIps(service: SourceObject): readonly unknown[] {
  const { ingress } = fieldsIn(fieldsIn(service['status'])['loadBalancer']);
  return listIn(ingress).map((entry) => fieldsIn(entry)['ip']);
}

/** Ports of services and of endpoint slices; TCP is left out. */
export function portsIn(ports: unknown): readonly PortMessage[] | undefined {
  return unlessEmpty(
    listIn(ports).map((entry) => {
      const { name, port, protocol, targetPort } = fieldsIn(entry);
      return said<PortMessage>({
        name: textIn(name),
        port: numberIn(port),
        protocol: protocol === 'TCP' ? undefined : textIn(protocol),
        target: numberIn(targetPort) ?? textIn(targetPort),
      });
    }),
  );
}
