// The func.yaml beside each function says what its manifest says, as far as func can say it.
import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import manifest from '../../../package.json' with { type: 'json' };

const REPO = fileURLToPath(new URL('../../../', import.meta.url));
const names = await readdir(`${REPO}knative/functions`);
const MIN = 'autoscaling.knative.dev/min-scale';
const MAX = 'autoscaling.knative.dev/max-scale';

interface Service {
  readonly metadata: { readonly namespace: string; readonly labels: Texts };
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly annotations: Texts };
      readonly spec: {
        readonly serviceAccountName: string;
        readonly containerConcurrency: number;
        readonly containers: readonly Container[];
      };
    };
  };
}

interface Container {
  readonly image: string;
  readonly env: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: {
      readonly configMapKeyRef: { readonly name: string; readonly key: string };
    };
  }[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly resources: { readonly requests: Texts; readonly limits: Texts };
}

type Probe = { readonly httpGet: { readonly path: string } };
type Texts = Readonly<Record<string, string>>;

const read = async (path: string): Promise<unknown> =>
  parse(await readFile(`${REPO}${path}`, 'utf8'));

function envsOf({ env }: Container): readonly { readonly name: string; readonly value: string }[] {
  return env.map(({ name, value = '', valueFrom }) => {
    const { name: map, key } = valueFrom?.configMapKeyRef ?? {};
    return { name, value: map === undefined ? value : `{{ configMap:${map}:${key} }}` };
  });
}

test.each(names)('%s', async (name) => {
  const service = (await read(`knative/functions/${name}/service.yaml`)) as Service;
  const { namespace, labels } = service.metadata;
  const { metadata, spec } = service.spec.template;
  const [container] = spec.containers;
  if (container === undefined) throw new Error('a Service has no container');
  const { [MIN]: min, [MAX]: max, ...annotations } = metadata.annotations;
  const func = (await read(`functions/${name}/func.yaml`)) as Readonly<Record<string, object>>;
  const { specVersion: _spec, runtime: _runtime, created: _created, ...said } = func;
  expect(said).toEqual({
    name,
    namespace,
    image: `${container.image}:${manifest.version}`,
    invoke: expect.stringMatching(/^(http|cloudevent)$/),
    run: { envs: envsOf(container) },
    deploy: {
      serviceAccountName: spec.serviceAccountName,
      healthEndpoints: {
        liveness: container.livenessProbe.httpGet.path,
        readiness: container.readinessProbe.httpGet.path,
      },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      labels: Object.entries(labels).map(([key, value]) => ({ key, value })),
      options: {
        scale: { min: Number(min), max: Number(max) },
        resources: {
          requests: container.resources.requests,
          limits: { ...container.resources.limits, concurrency: spec.containerConcurrency },
        },
      },
      ...(await subscriptions(name)),
    },
  });
});

/** func has exact filters only: that of the function's name is one. */
async function subscriptions(name: string): Promise<object> {
  const triggers = (await readdir(`${REPO}knative/functions/${name}`)).filter((file) =>
    file.endsWith('trigger.yaml'),
  );
  if (triggers.length === 0) return {};
  return { subscriptions: [{ source: 'ballast', filters: { ballastfunction: name } }] };
}
