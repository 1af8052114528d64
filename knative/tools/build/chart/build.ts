// Builds a Helm chart of the manifests in knative/, as a directory and packed: kustomize renders
// them, with every choice that values have, and each object becomes a template. Helm is not needed.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { stringify } from 'yaml';
import manifest from '../../../../package.json' with { type: 'json' };
import { inVersion } from '../build.ts';
import { functionNames, knativeNames } from '../function-names.ts';
import { writeArchive } from '../plugin/archive.ts';
import { type Choice, choices } from './choices.ts';
import { allowedImagesIn } from './marked.ts';
import { Kustomize } from './render.ts';
import { valuesSchema } from './schema.ts';
import { settingsTemplate, templatesOf } from './templates.ts';
import { settingsIn, valuesText } from './values.ts';
import { objectOf, variantsOf } from './variants.ts';

const root = resolve(import.meta.dirname, '../../../..');
const NAME = 'ballast';

export interface ChartSource {
  /** Values that there are none of do nothing. */
  readonly choices: readonly Choice[];
  /** The folder knative, or one laid out like it. */
  readonly manifests: string;
  readonly version: string;
}

/** Resolves with the directory, which has the chart in `ballast` and packed beside it. */
export async function buildChart(outDir = join(root, 'dist/chart')): Promise<string> {
  await inVersion(outDir, (workDir) => emitChart(shippedSource, workDir));
  return outDir;
}

export const shippedSource: ChartSource = {
  choices,
  manifests: join(root, 'knative'),
  version: manifest.version,
};

/** Resolves with the path of the packed chart. */
export async function emitChart(
  { choices: offered, manifests, version }: ChartSource,
  outDir: string,
): Promise<string> {
  const kustomize = new Kustomize(manifests, outDir);
  const definitions = await kustomize.definitions();
  const variants = [
    ...definitions.map((object) => ({ object })),
    ...(await variantsOf(offered, (chosen) => kustomize.others(chosen))),
  ];
  const functions = await knativeNames();
  const source = {
    functions,
    images: await functionNames(),
    settings: settingsIn(await readFile(join(manifests, 'settings/settings.env'), 'utf8')),
    allowedImages: Object.fromEntries(
      variants.flatMap((variant) => allowedImagesIn(objectOf(variant))),
    ),
  };
  const own = (name: string): Promise<string> =>
    readFile(join(import.meta.dirname, 'files', name), 'utf8');
  const files = new Map([
    ['Chart.yaml', stringify(chartOf(version))],
    ['values.yaml', valuesText(await own('values.yaml'), source)],
    ['values.schema.json', `${JSON.stringify(valuesSchema(source), undefined, 2)}\n`],
    ['templates/_helpers.tpl', (await own('helpers.tpl')) + settingsTemplate(source.settings)],
    ...templatesOf(variants, functions),
    ['templates/NOTES.txt', await own('notes.txt')],
    ['README.md', await own('README.md')],
    ['LICENSE', await readFile(join(root, 'LICENSE'), 'utf8')],
  ]);
  for (const [path, text] of files) {
    const to = join(outDir, NAME, path);
    await mkdir(dirname(to), { recursive: true });
    await writeFile(to, text);
  }
  const packed = join(outDir, `${NAME}-${version}.tgz`);
  await writeArchive(
    [...files].map(([path, text]) => ({ path: `${NAME}/${path}`, from: { text } })),
    packed,
  );
  return packed;
}

const chartOf = (version: string): object => ({
  apiVersion: 'v2',
  name: NAME,
  description: manifest.description,
  type: 'application',
  version,
  appVersion: version,
  // With ValidatingAdmissionPolicies; a provider's own ending of the version does not matter.
  kubeVersion: '>=1.30.0-0',
  annotations: { licenses: manifest.license },
});
