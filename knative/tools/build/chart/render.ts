// Renders knative/ by `kubectl kustomize`, with some of the choices, as objects.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parse } from 'yaml';
import type { Manifest } from '../../../../shared/kube/objects.ts';
import { kustomized } from '../../../try/local/manifests/kustomized.ts';
import type { Choice } from './choices.ts';

const CRDS = 'crds';

interface Kustomization {
  readonly resources: readonly string[];
  readonly components: readonly string[];
}

/** Reads a folder laid out like knative, and works below another one. */
export class Kustomize {
  readonly #manifests: string;
  readonly #workDir: string;

  constructor(manifests: string, workDir: string) {
    this.#manifests = manifests;
    this.#workDir = workDir;
  }

  definitions(): Promise<readonly Manifest[]> {
    return this.#render({ resources: [CRDS], components: [] }, []);
  }

  /** All but the definitions, which nobody has a choice about, and which are most of the text. */
  async others(choices: readonly Choice[]): Promise<readonly Manifest[]> {
    const text = await readFile(join(this.#manifests, 'kustomization.yaml'), 'utf8');
    const { resources, components }: Kustomization = parse(text);
    const others = resources.filter((name) => name !== CRDS);
    return this.#render({ resources: others, components }, choices);
  }

  async #render(
    { resources, components }: Kustomization,
    choices: readonly Choice[],
  ): Promise<readonly Manifest[]> {
    await mkdir(this.#workDir, { recursive: true });
    const dir = await mkdtemp(join(this.#workDir, 'kustomize-'));
    try {
      const chosen = choices.flatMap((choice) => choice.components ?? []);
      // Kustomize takes no absolute paths.
      const at = (name: string): string => relative(dir, join(this.#manifests, name));
      const kustomization = {
        apiVersion: 'kustomize.config.k8s.io/v1beta1',
        kind: 'Kustomization',
        resources: resources.map(at),
        components: [...components, ...chosen].map(at),
        patches: choices.flatMap(({ patches = [] }) => patches),
      };
      await writeFile(join(dir, 'kustomization.yaml'), JSON.stringify(kustomization));
      return await kustomized(dir);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  }
}
