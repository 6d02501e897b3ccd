import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Takes a lock three times at a server that answers lines: TAKE, GIVE. Arguments: its name, the port. */
public final class Client {
  private static Socket server;
  private static BufferedReader answers;

  private static String ask(String question) {
    try {
      server.getOutputStream().write((question + "\n").getBytes());
      return answers.readLine();
    } catch (java.io.IOException gone) {
      throw new IllegalStateException(gone);
    }
  }

  public static void main(String[] arguments) throws Exception {
    server = new Socket("127.0.0.1", Integer.parseInt(arguments[1]));
    answers = new BufferedReader(new InputStreamReader(server.getInputStream()));
    ScheduledExecutorService pool = Executors.newScheduledThreadPool(4);
    for (int turn = 0; turn < 3; turn++) {
      while (!CompletableFuture.supplyAsync(() -> ask("TAKE " + arguments[0] + "-" + UUID.randomUUID()), pool)
          .orTimeout(5, TimeUnit.SECONDS).get().equals("OK")) {
        Thread.sleep(10 + (long) (20 * Math.random()));
      }
      System.out.println(System.currentTimeMillis() + " got " + turn + " " + System.nanoTime());
      pool.schedule(() -> ask("GIVE"), 20, TimeUnit.MILLISECONDS).get();
    }
    pool.shutdown();
  }
}
