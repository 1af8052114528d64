// Objects of a chart with their fate: the StatefulSet goes, and all else that Helm made stays, with
// what a person can do about it. Pure.
import type { PlannedObject } from '../../../../shared/api/takeover.ts';
import type { LegacyNats } from '../legacy.ts';
import type { NatsState } from '../state.ts';

export const chartObjects = (
  { routes, config }: NatsState,
  { name, routeService, configName, chart }: LegacyNats,
): readonly PlannedObject[] => [
  {
    action: 'Delete',
    kind: 'StatefulSet',
    name,
    why: 'Scaled down to 0, one by one, and deleted last, when no pod of it is left.',
  },
  ...(routes === undefined
    ? []
    : [kept('Service', routeService, 'Only old servers had names in it')]),
  ...(config.is === 'missing' ? [] : [kept('ConfigMap', configName, 'Only old servers read it')]),
  ...(chart?.isOfHelm === true
    ? [kept('Secret', `sh.helm.release.v1.${chart.release}.*`, WHAT_HELM_KNOWS)]
    : []),
];

const WHAT_HELM_KNOWS = 'What Helm knows of the release; delete them afterwards';

const kept = (kind: string, name: string, why: string): PlannedObject => ({
  action: 'Keep',
  kind,
  name,
  why: `${why}.`,
});
