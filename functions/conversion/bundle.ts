// The authorities that the API server believes this function by, in the definitions of our kinds:
// one field of each, by a field manager of its own. Whatever else stands there is not ours.
import type { KubeClient } from '../../shared/kube/client.ts';
import { CRDS } from '../../shared/kube/crds.ts';
import { isRecord } from '../../shared/kube/json.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { KINDS, pluralOf } from '../../shared/kube/own-kinds/kinds.ts';
import { GROUP } from '../../shared/kube/own-kinds/versions.ts';

/** The definitions: each kind in the plural, in lower case. */
const PLURALS = [...KINDS.keys()].map((kind) => pluralOf(kind));

export interface ServedBy {
  readonly namespace: string;
  readonly service: string;
}

/** How many definitions had others. Those that do not name our Service are left alone. */
export async function writeBundle(
  kube: KubeClient,
  by: ServedBy,
  pem: string,
  signal: AbortSignal,
): Promise<number> {
  const caBundle = Buffer.from(pem).toString('base64');
  let written = 0;
  for (const plural of PLURALS) {
    const name = `${plural}.${GROUP}`;
    const definition = await kube.get(CRDS, { name }, { signal });
    const config = definition === null ? undefined : clientConfigOf(definition, by);
    if (config === undefined || config['caBundle'] === caBundle) continue;
    const manifest = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: { conversion: { webhook: { clientConfig: { caBundle } } } },
    };
    // One that another program wrote would have the API server turn away from us.
    await kube.apply(CRDS, manifest, { force: true, signal });
    written += 1;
  }
  return written;
}

/** Undefined where somebody else converts, or nobody. */
function clientConfigOf(
  definition: KubeObject,
  { namespace, service }: ServedBy,
): Record<string, unknown> | undefined {
  const conversion = fieldOf(definition, 'spec', 'conversion');
  if (!isRecord(conversion) || conversion['strategy'] !== 'Webhook') return undefined;
  const config = fieldOf(conversion, 'webhook', 'clientConfig');
  if (!isRecord(config) || !isRecord(config['service'])) return undefined;
  const { namespace: place, name } = config['service'];
  return place === namespace && name === service ? config : undefined;
}

function fieldOf(value: unknown, ...names: readonly string[]): unknown {
  let field = value;
  for (const name of names) field = isRecord(field) ? field[name] : undefined;
  return field;
}
