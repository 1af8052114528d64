// Keeps back fields of a spec whose edit is refused: all else is rendered with what servers have in
// their place, so that a renewed certificate or a new password still reaches them. Pure.
import { isRecord } from '../../shared/kube/json.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import type { Cluster } from './cluster.ts';
import type { Credentials } from './credentials.ts';
import { refuseDowngrade, refusedFields } from './refusals.ts';
import type { ConfigObject } from './render/config-object.ts';
import { hashOf } from './render/hash.ts';
import { render } from './render/manifests.ts';
import type { Shape } from './render/stateful-set.ts';
import type { Field, Rendering, State } from './state.ts';

/** The fields as servers have them; undefined when nobody can tell. */
export interface Present {
  readonly image: string | undefined;
  readonly accounts: ConfigObject | undefined;
}

/** Renders the spec as it is, and then with each choice of fields that differ from the present. */
export function renderAll(
  cluster: Cluster,
  credentials: Credentials,
  shape: Shape,
  { image, accounts }: Present,
): readonly Omit<Rendering, 'wrong'>[] {
  const kept: readonly Field[] = credentials.accounts === undefined ? [] : ['accounts'];
  const own = render(cluster, credentials, shape);
  const { spec } = cluster;
  const renderings = [{ keeps: kept, image: spec.image, rendered: own }];
  const hasOtherAccounts =
    accounts !== undefined && hashOf(accounts) !== hashOf(own.config['accounts']);
  const images = image === undefined || image === spec.image ? [spec.image] : [spec.image, image];
  for (const isOfBefore of hasOtherAccounts ? [false, true] : [false]) {
    for (const one of images) {
      if (!isOfBefore && one === spec.image) continue;
      const other = { ...cluster, spec: { ...spec, image: one } };
      const logins = isOfBefore ? { ...credentials, accounts } : credentials;
      const keeps = [
        ...(one === spec.image ? [] : ['image' as const]),
        ...(isOfBefore ? ['accounts' as const] : kept),
      ];
      renderings.push({ keeps, image: one, rendered: render(other, logins, shape) });
    }
  }
  return renderings;
}

/** The same state with the parts without what is refused; as it is when they cannot be without. */
export function keepBack(state: State): State {
  const { cluster, parts } = state;
  const refused = refusedFields(state);
  const rendering = parts.renderings.find(({ keeps }) =>
    refused.every((one) => keeps.includes(one)),
  );
  if (refused.length === 0 || rendering === undefined) return state;
  const { image, rendered, wrong } = rendering;
  const spec = { ...cluster.spec, image };
  // The StatefulSet may have been given the refused one before servers said what they run.
  if (refuseDowngrade({ ...state, cluster: { ...cluster, spec } }) !== undefined) return state;
  return { ...state, parts: { ...parts, rendered, wrong, isKeptBack: true } };
}

/** The image of the servers in a StatefulSet of ours. */
export function imageIn(statefulSet: KubeObject | null): string | undefined {
  const spec = statefulSet?.['spec'];
  const template = isRecord(spec) ? spec['template'] : undefined;
  const pod = isRecord(template) ? template['spec'] : undefined;
  const containers: unknown = isRecord(pod) ? pod['containers'] : undefined;
  const [server]: readonly unknown[] = Array.isArray(containers) ? containers : [];
  const image = isRecord(server) ? server['image'] : undefined;
  return typeof image === 'string' ? image : undefined;
}
