import net.minestom.server.MinecraftServer;

/** A Minestom server with its default settings on the port that is given. It ends with its standard input. */
public class MinestomServer {
  public static void main(String[] args) throws Exception {
    MinecraftServer server = MinecraftServer.init();
    server.start("127.0.0.1", Integer.parseInt(args[0]));
    System.out.println("ready");
    while (System.in.read() != -1) {}
    System.exit(0);
  }
}
