// The Service of the clients of a chart: it has the mark of Helm, by which that knows what it may
// change and delete, and leads to a port by the name that containers of the chart give it. Both are
// changed with where it leads, in one patch, on condition that it is still as it was observed.
import type { KubeClient } from '../../../../shared/kube/client.ts';
import type { KubeObject } from '../../../../shared/kube/objects.ts';
import { SERVICES } from '../../../../shared/stateful/parts.ts';
import { applied, type StepResult } from '../../../../shared/stateful/steps.ts';
import { serviceOf } from '../../find-left.ts';
import { inPlaceOf, type Leading } from '../../lead-service.ts';
import { fieldOf } from '../../legacy.ts';
import { recordsIn } from '../../legacy/said.ts';
import type { Takeover } from '../../object.ts';
import { selectorIn } from '../../records.ts';
import type { FoundService } from '../../state.ts';
import type { LegacyNats } from '../legacy.ts';
import { CHART_PORT, CLIENT_PORT } from '../ports.ts';

const MARK = 'app.kubernetes.io/managed-by';
const HELM = 'Helm';

export function chartService(object: KubeObject, { chart }: LegacyNats): FoundService {
  const { labels = {} } = object.metadata;
  const isOfRelease = labels['app.kubernetes.io/instance'] === chart?.release;
  const found = serviceOf(object, isOfRelease && labels[MARK] === HELM);
  const { ports, clusterIP } = fieldOf({ ...object }, 'spec');
  return { ...found, ports: recordsIn(ports), isHeadless: clusterIP === 'None' };
}

interface Led {
  readonly service: FoundService;
  readonly selector: FoundService['selector'];
}

type Patches = Pick<KubeClient, 'patch'>;

async function lead(
  kube: Patches,
  namespace: string,
  { service, selector }: Led,
  {
    mark,
    from,
    to,
  }: { readonly mark: string | null; readonly from: unknown; readonly to: unknown },
  signal: AbortSignal,
): Promise<void> {
  const { name, uid, resourceVersion, ports = [] } = service;
  const led = ports.map((one) => (one['targetPort'] === from ? { ...one, targetPort: to } : one));
  const body = {
    metadata: { uid, resourceVersion, labels: { [MARK]: mark } },
    spec: { selector: inPlaceOf(service.selector, selector), ports: led },
  };
  await kube.patch(SERVICES, { namespace, name }, { type: 'merge', body }, { signal });
}

export async function leadChartToNew(
  kube: Patches,
  { namespace, spec }: Leading,
  led: Led,
  signal: AbortSignal,
): Promise<StepResult> {
  await lead(kube, namespace, led, { mark: null, from: CHART_PORT, to: CLIENT_PORT }, signal);
  const message = `Service ${led.service.name} leads to NatsCluster ${spec.into.name}.`;
  return applied('ServiceSwitched', message);
}

/** As it was when the plan was confirmed. */
export async function leadChartToOld(
  kube: Patches,
  { namespace, status }: Takeover,
  { service }: Led,
  signal: AbortSignal,
): Promise<StepResult> {
  const selector = selectorIn(status.work?.service.selector ?? '');
  const back = { mark: HELM, from: CLIENT_PORT, to: CHART_PORT };
  await lead(kube, namespace, { service, selector }, back, signal);
  return applied('ServiceGivenBack', `Service ${service.name} leads to the old servers again.`);
}
