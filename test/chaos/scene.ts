// The scene of every run: two instances of the function, and readers that stay: nodes, one of which
// never exists, a namespace, and the whole cluster.
import { Rig } from './rig.ts';
import { NAMESPACE } from './shapes.ts';

export async function openScene(): Promise<Rig> {
  const rig = await Rig.start({ instances: 2 });
  try {
    for (const node of ['n0', 'n1', 'n2', 'elsewhere']) rig.addReader({ node });
    rig.addReader({ namespaces: [NAMESPACE] });
    rig.addReader('cluster');
    await rig.sweep();
    return rig;
  } catch (error) {
    await rig.stop();
    throw error;
  }
}
