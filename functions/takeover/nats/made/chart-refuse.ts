// Reasons against a takeover because it is of a chart. Each is a sentence that says what to do.
// Pure.
import type { Reason } from '../../../../shared/kube/conditions.ts';
import { textOf } from '../../../../shared/kube/json.ts';
import { listed } from '../../../../shared/stateful/decision.ts';
import { fieldOf } from '../../legacy.ts';
import { selectorText } from '../../records.ts';
import type { FoundService } from '../../state.ts';
import type { LegacyNats } from '../legacy.ts';
import { CHART_PORT, PORTS_OF_BOTH } from '../ports.ts';
import { configOf, type NatsState } from '../state.ts';

export function refuseChart(state: NatsState, legacy: LegacyNats): readonly Reason[] {
  const { namespace, name, chart } = legacy;
  const which = `StatefulSet ${namespace}/${name}`;
  if (chart?.version === undefined) {
    const message =
      `${which} is not of the chart nats of nats-io, by its label helm.sh/chart and by what its ` +
      'pods mount (/etc/nats-config). Lead its clients to a NatsCluster by hand.';
    return [{ reason: 'ChartUnknown', message }];
  }
  if (Number(chart.version.split('.')[0]) < 1) {
    const message =
      `${which} is of version ${chart.version} of the chart, whose clients and servers share one ` +
      'Service, and whose configuration is no JSON. Bring it to 1.0 or later first, as ' +
      'UPGRADING.md of the chart says; with a Service and a StatefulSet of one name.';
    return [{ reason: 'ChartTooOld', message }];
  }
  return [
    ...refuseSelector(legacy, which),
    ...refuseNumbers(legacy, which),
    ...refuseNamed(state, legacy),
    ...refuseUnrouted(state),
    ...refuseClientService(state, legacy),
  ];
}

/** The policy of the function knows a Service of a chart by these three. */
function refuseSelector({ labels, chart }: LegacyNats, which: string): readonly Reason[] {
  const { 'app.kubernetes.io/component': component, 'app.kubernetes.io/instance': instance } =
    labels;
  const isUsual = component === 'nats' && instance === chart?.release;
  if (isUsual && Object.keys(labels).length === 3) return [];
  const message =
    `${which} selects its pods otherwise than the chart does from 1.0 on, by name, instance and ` +
    'component (app.kubernetes.io/...), as one does that was made by 0.x. Lead its clients over ' +
    'by hand.';
  return [{ reason: 'NamedOtherwise', message }];
}

/** Rights are granted by one name, and all others follow from it. */
function refuseNamed(state: NatsState, legacy: LegacyNats): readonly Reason[] {
  const { name, routeService, configName } = legacy;
  const { clusterName = name } = configOf(state) ?? {};
  const told = textOf(state.target.wanted['clusterName']) || name;
  const pairs = [
    [routeService, `${name}-headless`],
    [configName, `${name}-config`],
    [clusterName, name],
    [told, name],
  ] as const;
  const others = pairs.filter(([is, usual]) => is !== usual).map(([is]) => is);
  if (others.length === 0) return [];
  const message =
    `The chart gave ${listed(others)} another name than follows from ${name}, by the values ` +
    'headlessService.name, configMap.name or config.cluster.merge.name (or ' +
    'spec.into.spec.clusterName did), and the function has rights to those alone that do. Lead ' +
    'its clients over by hand.';
  return [{ reason: 'NamedOtherwise', message }];
}

/** Servers leave by the highest number first, down to 0. */
function refuseNumbers({ spec }: LegacyNats, which: string): readonly Reason[] {
  const { start = 0 } = fieldOf(spec, 'ordinals');
  if (start === 0) return [];
  const message =
    `${which} does not number its pods from 0 on (spec.ordinals), so that none of them would ` +
    'leave when it is scaled down. Lead its clients over by hand.';
  return [{ reason: 'NamedOtherwise', message }];
}

function refuseUnrouted({ config }: NatsState): readonly Reason[] {
  if (config.is !== 'found' || config.config.isRouted !== false) return [];
  const message =
    'The old server has no routes, so nothing joins it with new ones. Have the chart give it ' +
    'routes first (helm upgrade with config.cluster.enabled=true), which starts it anew.';
  return [{ reason: 'RoutesClosed', message }];
}

function refuseClientService(state: NatsState, legacy: LegacyNats): readonly Reason[] {
  const { client, routes } = state;
  const { namespace, clientService, routeService, labels } = legacy;
  const which = `Service ${namespace}/${clientService}`;
  const wanted = selectorText(labels);
  if (client === undefined || routes === undefined) {
    const lacking = client === undefined ? which : `Service ${namespace}/${routeService}`;
    const message = `There is no ${lacking}. Have the chart make it (service.enabled).`;
    return [{ reason: 'ServiceMissing', message }];
  }
  if (!client.isOwned) {
    const message =
      `${which} is not of the release, by its labels app.kubernetes.io/instance and ` +
      'app.kubernetes.io/managed-by. Give it these back, or another name if it is somebody else’s.';
    return [{ reason: 'ServiceTaken', message }];
  }
  if (selectorText(client.selector) !== wanted) {
    const message = `${which} does not lead to its pods. Give it back its selector: ${wanted}.`;
    return [{ reason: 'ServiceRedirected', message }];
  }
  return refusePorts(client, which);
}

function refusePorts(
  { ports = [], isHeadless = false }: FoundService,
  which: string,
): readonly Reason[] {
  if (isHeadless) {
    const message =
      `${which} has no address of its own, so clients know the pods behind it. Give the chart a ` +
      'Service of that name with one (service.merge), and lead clients to it.';
    return [{ reason: 'ServiceHeadless', message }];
  }
  const others = ports.filter(
    ({ targetPort: port }) => !PORTS_OF_BOTH.has(port) && port !== CHART_PORT,
  );
  if (others.length === 0) return [];
  const message =
    `${which} leads to ports that servers of a NatsCluster do not have: ` +
    `${listed(others.map(({ name }) => String(name)))}. Take them out of it (service.ports).`;
  return [{ reason: 'ServicePorts', message }];
}
