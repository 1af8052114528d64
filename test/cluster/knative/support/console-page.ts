// The page of `console` as docs/console.md says that people reach it: an instance that stays awake,
// and a port that kubectl forwards to it.
import { request } from 'undici';
import type { Problem } from '../../../../functions/console/answers.ts';
import type { KubeObject } from '../../../../shared/kube/objects.ts';
import { type Forward, Kubectl } from '../../support/kubectl.ts';
import { eventually, type Rig } from './rig.ts';
import { OURS } from './shown-feed.ts';
import type { KnativeWorld } from './world.ts';

const SERVICES = { group: 'serving.knative.dev', version: 'v1', resource: 'services' } as const;
const CONSOLE = { namespace: OURS, name: 'console' } as const;
const SCALE = 'autoscaling.knative.dev/min-scale';

export class ConsolePage {
  readonly #rig: Rig;
  readonly #forward: Forward;

  private constructor(rig: Rig, forward: Forward) {
    this.#rig = rig;
    this.#forward = forward;
  }

  static async open({ rig, kubeconfigPath }: KnativeWorld, home: string): Promise<ConsolePage> {
    const pod = await awake(rig);
    const kubectl = await Kubectl.at(kubeconfigPath, home);
    return new ConsolePage(rig, await kubectl.forward(OURS, pod, 8080));
  }

  async problems(): Promise<readonly Problem[]> {
    const answer = await request(`${this.#forward.url}/api/state`);
    const { problems } = Object(await answer.body.json());
    return problems;
  }

  /** It may sleep again. */
  async close(): Promise<void> {
    this.#forward.stop();
    await scale(this.#rig, null);
  }
}

const scale = (rig: Rig, instances: string | null): Promise<KubeObject> => {
  const body = { spec: { template: { metadata: { annotations: { [SCALE]: instances } } } } };
  return rig.kube.patch(SERVICES, CONSOLE, { type: 'merge', body });
};

/** The name of a pod of its newest revision that is ready. */
async function awake(rig: Rig): Promise<string> {
  const scaled = await scale(rig, '1');
  const generation = Number(scaled.metadata['generation']);
  return eventually(async () => {
    const { status } = Object(await rig.kube.get(SERVICES, CONSOLE));
    const revision = status.latestReadyRevisionName;
    if (status.observedGeneration < generation || revision !== status.latestCreatedRevisionName) {
      throw new Error('its newest revision is not ready');
    }
    const pods = await rig.pods(`serving.knative.dev/revision=${revision}`, OURS);
    const [pod] = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    if (pod === undefined) throw new Error(`${revision} has no pod`);
    return pod.metadata.name;
  });
}
