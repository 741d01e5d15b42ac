import { attacks, type Target } from './attacks.ts';

/** A process of its own, so that what it makes holds up nobody who measures: attacks by name until it is ended. */
const { target, names } = JSON.parse(process.argv[2] ?? '') as { readonly target: Target; readonly names: string[] };

// A connection that the server ends in the midst of a request.
process.on('uncaughtException', () => {});
for (const name of names) {
  const attack = attacks[name];
  if (attack === undefined) throw new Error(`there is no attack ${name}`);
  void (async () => {
    for (let turn = 0; ; turn++) {
      await attack(target, turn).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
}
// By now the bodies are made, and the first of each are on their way.
process.stdout.write('attacking\n');
