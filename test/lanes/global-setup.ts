// A lane on whose plane nothing of ours is applied.
import type { TestProject } from 'vitest/node';
import { startLane } from './start-lane.ts';

export const setup = (project: TestProject): Promise<() => Promise<void>> => startLane(project);
