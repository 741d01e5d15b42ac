import { mavenJar } from './maven-jar.ts';

export function questdbJar(): Promise<string> {
  return mavenJar('org.questdb', 'questdb', '9.3.4');
}
