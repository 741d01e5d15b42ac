import { afterAll, beforeAll, describe } from 'vitest';
import { engineBehaviour } from './engine-behaviour.ts';
import { type EngineDoor, openEngineDoor } from './support/engine-door.ts';

describe('the local engine', () => {
  let door: EngineDoor;
  beforeAll(async () => {
    door = await openEngineDoor({});
  });
  afterAll(async () => {
    await door[Symbol.asyncDispose]();
  });

  engineBehaviour({ label: 'local', engine: 'local', door: () => door });
});
